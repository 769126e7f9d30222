import { Card, List, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/shared/ui/CommandLine';
import { AnchorLink } from '@/shared/ui/links';

/** For a project in which there is nothing yet: the way from a folder to a first run. */
export function FirstSteps() {
  const { t } = useTranslation();
  return (
    <Card component="section" aria-label={t('overview.first')} mb="md">
      <Title order={2} fz="md" mb="xs">
        {t('overview.first')}
      </Title>
      <List type="ordered" size="sm" spacing="sm" withPadding>
        <List.Item>
          <Text size="sm">{t('overview.firstData')}</Text>
          <CommandLine command="atom data push ./folder digits --labels folder" />
          <AnchorLink to="/datasets">{t('overview.firstUpload')}</AnchorLink>
        </List.Item>
        <List.Item>
          <Text size="sm">{t('overview.firstLabels')}</Text>
          <AnchorLink to="/labeling">{t('overview.createTask')}</AnchorLink>
        </List.Item>
        <List.Item>
          <Text size="sm">{t('overview.firstRun')}</Text>
          <AnchorLink to="/runs/new">{t('overview.startRun')}</AnchorLink>
        </List.Item>
      </List>
    </Card>
  );
}
