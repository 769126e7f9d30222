import { Alert, Card, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Preview } from '@/api/contract/jobs';
import { useWords } from '@/shared/domain/runWords';
import { CopyId } from '@/shared/ui/CopyId';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { StateBadge } from '@/shared/ui/StateBadge';

/** Where the run would go and what it would wait for, as the server sees it now. */
export function PreviewCard({
  data,
  preview,
  error,
  refused,
  stale,
}: {
  /** The data that the run would read: the first thing to be wrong. */
  data?: ReactNode;
  preview: Preview | undefined;
  error: unknown;
  /** Whether fields are wrong, so that nothing can be foreseen. */
  refused: boolean;
  stale: boolean;
}) {
  const { t } = useTranslation();
  if (error) return <ErrorState compact error={error} />;
  if (!preview && refused)
    return (
      <Card padding="md">
        <Title order={2} fz="sm" mb="xs">
          {t('wizard.preview')}
        </Title>
        {data && <div style={{ marginBottom: 'var(--mantine-spacing-sm)' }}>{data}</div>}
        <Text size="sm" c="dimmed" role="status">
          {t('wizard.noPreview')}
        </Text>
      </Card>
    );
  if (!preview) return <Skeleton height={220} radius="md" />;
  return (
    <Card padding="md" aria-busy={stale}>
      <Title order={2} fz="sm" mb="xs">
        {t('wizard.preview')}
      </Title>
      <Stack gap="sm">
        {data}
        <Placement preview={preview} />
        <Warmth preview={preview} />
        <RuntimeState preview={preview} />
      </Stack>
    </Card>
  );
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" fw={600}>
        {label}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  );
}

function Placement({ preview }: { preview: Preview }) {
  const { t } = useTranslation();
  const words = useWords();
  const { outlook, placement, queue_position: position } = preview;
  const why = (
    <Text size="xs" c="dimmed">
      {words.placement(placement)}
    </Text>
  );
  if (outlook === 'never_fits')
    return (
      <Alert variant="light" color="red" py={8} icon={<IconAlertTriangle size={16} />} role="status">
        {placement.code === 'chosen_cluster'
          ? t('wizard.notThere', { cluster: placement.cluster })
          : t('wizard.neverFits')}
        {why}
      </Alert>
    );
  if (outlook === 'waits')
    return (
      <Fact label={t('wizard.waits')}>
        {t('wizard.queuePosition', { position })}
        {why}
      </Fact>
    );
  return (
    <Fact label={t('wizard.whereItRuns')}>
      {[placement.cluster, placement.node].filter(Boolean).join(' / ')}
      {why}
      <Text size="xs" c="dimmed">
        {position > 1 ? t('wizard.queuePosition', { position }) : t('wizard.startsNow')}
      </Text>
    </Fact>
  );
}

function Warmth({ preview: { warm } }: { preview: Preview }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!warm) return null;
  return (
    <Fact label={t('wizard.dataThere')}>
      <ProgressBar ratio={warm.coverage} label={t('wizard.dataThere')} color="teal" />
      <Text size="xs" c="dimmed">
        {warm.bytes_missing > 0 ? t('wizard.toWarm', { size: format.bytes(warm.bytes_missing) }) : t('wizard.allWarm')}
      </Text>
    </Fact>
  );
}

function RuntimeState({ preview: { runtime } }: { preview: Preview }) {
  const { t } = useTranslation();
  if (!runtime) return null;
  return (
    <Fact label={t('jobs.config.runtime')}>
      <CopyId value={runtime.digest} chars={10} /> <StateBadge state={runtime.state} size="xs" />
      <Text size="xs" c="dimmed">
        {runtime.state === 'ready' ? t('wizard.runtimeCached') : t('wizard.runtimeToBuild')}
      </Text>
    </Fact>
  );
}
