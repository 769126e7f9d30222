import { Card, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/shared/ui/CommandLine';

/** How a dataset gets into a folder with its history, and from there into this or another Atom. */
export function MovingCard({ dataset }: { dataset: string }) {
  const { t } = useTranslation();
  return (
    <Card>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t('datasets.moving')}
        </Title>
        <Text size="sm">{t('datasets.movingSave')}</Text>
        <CommandLine command={`atom data archive save ${dataset} ./archive`} />
        <Text size="sm">{t('datasets.movingSources')}</Text>
        <CommandLine command={`atom data archive save ${dataset} ./archive --with-sources`} />
        <Text size="sm">{t('datasets.movingCheck')}</Text>
        <CommandLine command="atom data archive check ./archive" />
        <Text size="sm">{t('datasets.movingLoad')}</Text>
        <CommandLine command={`atom data archive load ./archive ${dataset}`} />
      </Stack>
    </Card>
  );
}
