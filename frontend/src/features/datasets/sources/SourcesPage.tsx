import { Button, Card } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { useCommands } from '@/shared/ui/commands';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { NewSource } from './NewSource';
import { SourcesTable } from './SourcesTable';

/** Buckets, folders and lists that datasets follow in place. */
export function SourcesPage() {
  const { t } = useTranslation();
  const mayChange = useMay('researcher');
  const [adding, add] = useDisclosure();
  useShortcuts(mayChange ? [{ keys: 'N', label: t('sources.new'), run: add.open }] : []);
  useCommands(mayChange ? [{ id: 'new-source', label: t('sources.new'), icon: IconPlus, run: add.open }] : []);
  return (
    <Page>
      <PageHeader
        title={t('sources.title')}
        subtitle={t('sources.subtitle')}
        above={
          <AnchorLink to="/datasets" size="sm">
            {t('datasets.title')}
          </AnchorLink>
        }
      >
        {mayChange && (
          <Button leftSection={<IconPlus size={15} />} onClick={add.open}>
            {t('sources.new')}
          </Button>
        )}
      </PageHeader>
      <Card p={0}>
        <SourcesTable onAdd={mayChange ? add.open : undefined} />
      </Card>
      <NewSource opened={adding} onClose={add.close} />
    </Page>
  );
}
