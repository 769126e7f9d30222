import { Button, Card } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { DeletedDataset } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { Count } from '@/shared/ui/values';
import { useDeletedDatasets, useRestoreDataset } from '../keeping/queries';
import { personName } from '../names';

export function DeletedPage() {
  const { t } = useTranslation();
  const deleted = useDeletedDatasets();
  const columns = useColumns();
  return (
    <Page>
      <PageHeader
        title={t('datasets.deleted')}
        subtitle={t('datasets.deletedSubtitle')}
        above={
          <AnchorLink to="/datasets" size="sm">
            {t('datasets.title')}
          </AnchorLink>
        }
      />
      <Card p={0}>
        <DataTable
          {...deleted}
          label={t('datasets.deleted')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconTrash} title={t('datasets.deletedEmpty')} />}
        />
      </Card>
    </Page>
  );
}

function useColumns(): Column<DeletedDataset>[] {
  const { t } = useTranslation();
  const may = useMay('admin');
  return useMemo<Column<DeletedDataset>[]>(
    () => [
      { key: 'name', header: t('datasets.name'), cell: ({ name }) => <CutName name={name} /> },
      {
        key: 'versions',
        header: t('datasets.versions'),
        align: 'right',
        cell: ({ versions_count }) => <Count value={versions_count} />,
      },
      { key: 'at', header: t('datasets.deletedAt'), cell: ({ deleted_at }) => <RelativeTime at={deleted_at} /> },
      { key: 'by', header: t('datasets.by'), from: 'md', cell: ({ deleted_by }) => personName(deleted_by) },
      {
        key: 'until',
        header: t('datasets.deletedUntil'),
        cell: ({ restorable_until }) => <RelativeTime at={restorable_until} />,
      },
      {
        key: 'restore',
        header: t('common.actions'),
        align: 'right',
        cell: (row) => may && <Restore dataset={row} />,
      },
    ],
    [may, t],
  );
}

function Restore({ dataset }: { dataset: DeletedDataset }) {
  const { t } = useTranslation();
  const { restore, isPending } = useRestoreDataset();
  const back = () =>
    void restore(dataset.id)
      .then(() => notifySuccess(t('datasets.restoredDataset', { name: dataset.name })))
      .catch(notifyError);
  return (
    <Button
      size="compact-xs"
      variant="light"
      loading={isPending}
      aria-label={t('datasets.restoreDatasetName', { name: dataset.name })}
      onClick={back}
    >
      {t('datasets.restoreDataset')}
    </Button>
  );
}
