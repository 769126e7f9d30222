import { Button, Card, Group, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { NewSource } from './NewSource';
import { SourcesTable } from './SourcesTable';

/** The places that one dataset follows. */
export function SourcesCard({ dataset }: { dataset: string }) {
  const { t } = useTranslation();
  const mayChange = useMay('researcher');
  const [adding, add] = useDisclosure();
  return (
    <section aria-label={t('sources.title')}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {t('sources.title')}
        </Title>
        {mayChange && (
          <Button size="xs" variant="default" leftSection={<IconPlus size={15} />} onClick={add.open}>
            {t('sources.new')}
          </Button>
        )}
      </Group>
      <Card p={0}>
        <SourcesTable dataset={dataset} onAdd={mayChange ? add.open : undefined} />
      </Card>
      <NewSource opened={adding} onClose={add.close} dataset={dataset} />
    </section>
  );
}
