import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ClusterRun } from '@/api/schema';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { useFormat } from '@/shared/ui/format';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { useClusterRuns } from './queries';

/** The open runs of a cluster in the reader's projects; administrators of the installation see all. */
export function RunsHere({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const columns = useColumns();
  return (
    <DataTable
      label={t('clusters.runs')}
      columns={columns}
      {...useClusterRuns(cluster)}
      rowKey={({ id }) => id}
      rowName={(run) => `#${run.number} ${run.name}`}
      rowLink={({ id, project }) => ({ to: '/runs/$runId', params: { runId: id }, search: { project } })}
      empty={
        <Text size="sm" c="dimmed">
          {t('clusters.noRuns')}
        </Text>
      }
    />
  );
}

function useColumns(): Column<ClusterRun>[] {
  const { t } = useTranslation();
  const format = useFormat();
  return [
    {
      key: 'run',
      header: t('clusters.run'),
      cell: ({ number, name }) => <span style={{ overflowWrap: 'anywhere' }}>{`#${number} ${name}`.trim()}</span>,
    },
    {
      key: 'state',
      header: t('clusters.runState'),
      cell: ({ state }) => <StateBadge state={state} miw="max-content" />,
    },
    { key: 'project', header: t('clusters.project'), cell: ({ project }) => project, from: 'sm' },
    { key: 'node', header: t('clusters.node'), cell: ({ node }) => node ?? '–', from: 'sm' },
    {
      key: 'gpus',
      header: t('clusters.gpus'),
      cell: ({ gpus, accelerator }) => (accelerator ? `${gpus} × ${accelerator}` : format.number(gpus)),
      align: 'right',
    },
    {
      key: 'who',
      header: t('clusters.startedBy'),
      cell: ({ created_by }) => created_by ?? '–',
      from: 'md',
    },
    {
      key: 'age',
      header: t('clusters.since'),
      cell: ({ started_at, created_at }) => <RelativeTime at={started_at ?? created_at} />,
      align: 'right',
      from: 'sm',
      nowrap: true,
    },
  ];
}
