import { Button, SimpleGrid, Skeleton } from '@mantine/core';
import { IconPhoto } from '@tabler/icons-react';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { Thumb } from '@/shared/grid/Thumb';
import { VirtualGrid } from '@/shared/grid/VirtualGrid';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { visible } from '@/shared/ui/visible';
import { isTooLarge, markOf } from '../damage';
import { EntryOverlay } from '../drawn/EntryOverlay';
import { ObjectsBadge } from '../drawn/ObjectsBadge';
import { baseName } from '../names';
import classes from './browse.module.css';
import { LinkBadge, LinkTile } from './LinkTile';
import { type BrowseSearch, isFiltered, type useEntries } from './useBrowse';
import type { usePicking } from './usePicking';

const CAPTION_PX = 28;
const cellHeight = (width: number) => Math.round(width * 0.72) + CAPTION_PX;

interface EntryGridProps {
  entries: ReturnType<typeof useEntries>;
  search: BrowseSearch;
  thumbSize: number;
  onOpen: (entry: Entry, index: number) => void;
  onClear: () => void;
  /** Undefined for who may only look. */
  picking: ReturnType<typeof usePicking>['picking'] | undefined;
}

export function EntryGrid({ entries, search, thumbSize, onOpen, onClear, picking }: EntryGridProps) {
  const { t } = useTranslation();
  const renderCell = useCallback((entry: Entry) => <EntryCell entry={entry} />, []);
  if (entries.error) return <ErrorState error={entries.error} onRetry={entries.refetch} />;
  if (entries.total === undefined) return <GridSkeleton />;
  if (entries.total === 0) return <NoFiles search={search} isExact={entries.isExact} onClear={onClear} />;
  return (
    <div className={classes.grid}>
      <VirtualGrid
        key={entries.sourceKey}
        label={t('datasets.grid', { name: search.path ?? t('datasets.allFolders') })}
        count={entries.total}
        loadRange={entries.source.load}
        sourceKey={entries.sourceKey}
        pageSize={entries.source.pageSize}
        minCellWidth={thumbSize}
        cellHeight={cellHeight}
        renderCell={renderCell}
        onOpen={onOpen}
        picking={picking}
      />
    </div>
  );
}

function EntryCell({ entry }: { entry: Entry }) {
  const { t } = useTranslation();
  const mark = markOf(entry.attributes);
  const damaged = mark && (isTooLarge(mark) ? t('common.noPreview') : t('item.damage.short'));
  return (
    <div className={classes.cell} title={visible(entry.path)}>
      <div className={classes.picture}>
        {entry.link && !entry.thumb_url ? (
          <LinkTile link={entry.link} />
        ) : (
          <Thumb src={entry.thumb_url} damaged={damaged} />
        )}
        {!damaged && entry.thumb_url && <EntryOverlay annotations={entry.annotations} />}
        <ObjectsBadge annotations={entry.annotations} />
        <div className={classes.tags}>
          {entry.link && entry.thumb_url && <LinkBadge link={entry.link} />}
          {entry.label ? <span className={classes.tag}>{entry.label}</span> : <span />}
          {entry.split && <span className={classes.tag}>{entry.split}</span>}
        </div>
      </div>
      <span className={classes.file}>{visible(baseName(entry.path))}</span>
    </div>
  );
}

interface NoFilesProps {
  search: BrowseSearch;
  /** False: reading stopped before the end, so there may be one further on. */
  isExact: boolean;
  onClear: () => void;
}

export function NoFiles({ search, isExact, onClear }: NoFilesProps) {
  const { t } = useTranslation();
  const action = isFiltered(search) && (
    <Button variant="default" onClick={onClear}>
      {t('datasets.clearFilters')}
    </Button>
  );
  const title = t(isExact ? 'datasets.noFiles' : 'datasets.noFilesYet');
  return <EmptyState icon={IconPhoto} title={title} action={action} />;
}

const CELLS = Array.from({ length: 18 }, (_, index) => `cell-${index}`);

function GridSkeleton() {
  return (
    <SimpleGrid cols={{ base: 2, sm: 4, lg: 6 }} spacing={8} aria-busy>
      {CELLS.map((key) => (
        <Skeleton key={key} height={120} radius="md" />
      ))}
    </SimpleGrid>
  );
}
