import { Card } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LabelerStats } from '@/api/contract/labeling';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { useFormat } from '@/shared/ui/format';
import { changedOf, preLabelledOf } from '../preLabelEdits';
import { useStats } from '../queries';

export function LabelerTable({ taskId }: { taskId: string }) {
  const { t } = useTranslation();
  const format = useFormat();
  const stats = useStats(taskId);
  const count = (key: 'submitted' | 'accepted' | 'returned'): Column<LabelerStats> => ({
    key,
    header: t(`labeling.stat.${key}`),
    align: 'right',
    sortValue: (row) => row[key],
    cell: (row) => format.number(row[key]),
    width: 120,
  });
  const columns: Column<LabelerStats>[] = [
    { key: 'labeler', header: t('labeling.labeler'), cell: (row) => row.labeler, sortValue: (row) => row.labeler },
    count('submitted'),
    count('accepted'),
    count('returned'),
    {
      key: 'rate',
      header: t('labeling.stat.returnRate'),
      align: 'right',
      width: 130,
      sortValue: (row) => row.returned / Math.max(1, row.submitted),
      cell: (row) => format.percent(row.returned / Math.max(1, row.submitted), 1),
    },
    {
      key: 'preLabels',
      header: t('labeling.stat.preLabels'),
      align: 'right',
      width: 170,
      sortValue: ({ pre_label_edits: edits }) => edits && changedOf(edits) / Math.max(1, preLabelledOf(edits)),
      cell: ({ pre_label_edits: edits }) =>
        edits ? t('labeling.preLabels.cell', { changed: changedOf(edits), count: preLabelledOf(edits) }) : '–',
    },
    {
      key: 'median',
      header: t('labeling.stat.median'),
      align: 'right',
      width: 150,
      sortValue: (row) => row.median_active_ms,
      cell: (row) => (row.median_active_ms === null ? '–' : format.duration(row.median_active_ms / 1000)),
    },
  ];
  return (
    <Card p={0}>
      <DataTable
        label={t('labeling.labelers')}
        columns={columns}
        rows={stats.data?.results}
        error={stats.error}
        refetch={() => void stats.refetch()}
        rowKey={(row) => row.labeler}
        empty={<EmptyState compact title={t('labeling.noLabelers')} />}
      />
    </Card>
  );
}
