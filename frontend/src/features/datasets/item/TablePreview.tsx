import { Skeleton, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { isTableReason, TableView } from '@/shared/grid/TableView';
import { ErrorState } from '@/shared/ui/ErrorState';
import type { VersionAddress } from '../queries';
import classes from './item.module.css';
import { useEntryPreview } from './queries';

export const isTable = ({ path }: Entry): boolean => /\.(parquet|pq)$/i.test(path);

/** The columns and the first rows of a Parquet file. */
export function TablePreview({ address, path }: { address: VersionAddress; path: string }) {
  const { t } = useTranslation();
  const preview = useEntryPreview(address, path);
  if (preview.error) return <ErrorState error={preview.error} onRetry={() => void preview.refetch()} compact />;
  if (!preview.data) return <Skeleton height={320} aria-busy />;
  const { table, reason, truncated } = preview.data;
  if (!table)
    return (
      <Text c="dimmed" size="sm">
        {isTableReason(reason) && t(`table.reasons.${reason}`)}
        {reason === 'at_source' && t('table.atSource')}
        {reason === 'unknown' && t('item.noPicture')}
      </Text>
    );
  return (
    <div className={classes.table}>
      {truncated && (
        <Text size="sm" c="dimmed" mb="xs">
          {t('table.cut')}
        </Text>
      )}
      <TableView table={table} reason={reason} />
    </div>
  );
}
