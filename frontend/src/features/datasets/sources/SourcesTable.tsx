import { Button, Stack } from '@mantine/core';
import { IconCloudDataConnection } from '@tabler/icons-react';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Source } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CutName } from '@/shared/ui/CutName';
import { EmptyState } from '@/shared/ui/EmptyState';
import { LongName } from '@/shared/ui/LongName';
import { AnchorLink } from '@/shared/ui/links';
import { confirmUndo } from '@/shared/ui/undo';
import { Count } from '@/shared/ui/values';
import { useSourceActions, useSources } from './queries';
import { ScanButton } from './ScanButton';
import { Schedule } from './Schedule';
import { SourceState } from './SourceState';

interface SourcesTableProps {
  /** Only the sources of this dataset; all of the project if left out. */
  dataset?: string;
  onAdd?: () => void;
}

/** Sources, with what can be done with each. */
export function SourcesTable({ dataset, onAdd }: SourcesTableProps) {
  const { t } = useTranslation();
  const mayChange = useMay('researcher');
  const sources = useSources();
  const { hasMore, isLoadingMore, loadMore } = sources;
  // Pages are of the whole project: those of one dataset may stand on any of them.
  useEffect(() => {
    if (dataset !== undefined && hasMore && !isLoadingMore) loadMore();
  }, [dataset, hasMore, isLoadingMore, loadMore]);
  // Gone from the list at once; the server forgets them when nobody took it back.
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const columns = useColumns(mayChange, dataset !== undefined, setLeaving);
  const rows = useMemo(
    () => sources.rows?.filter((row) => !leaving.has(row.id) && (dataset === undefined || row.dataset === dataset)),
    [sources.rows, leaving, dataset],
  );
  return (
    <DataTable
      {...sources}
      rows={rows}
      label={t('sources.title')}
      columns={columns}
      rowKey={({ id }) => id}
      empty={<NoSources dataset={dataset} onAdd={onAdd} />}
    />
  );
}

type Leaving = (change: (before: ReadonlySet<string>) => ReadonlySet<string>) => void;

function useColumns(mayChange: boolean, ofOne: boolean, setLeaving: Leaving): Column<Source>[] {
  const { t } = useTranslation();
  return useMemo<Column<Source>[]>(() => {
    const branchColumn: Column<Source> = { key: 'branch', header: t('datasets.branch'), cell: ({ branch }) => branch };
    const datasetColumn: Column<Source> = {
      key: 'dataset',
      header: t('sources.dataset'),
      cell: ({ dataset, branch }) => (
        <AnchorLink to="/datasets/$name" params={{ name: dataset }} search={{ ref: branch }}>
          {`${dataset}@${branch}`}
        </AnchorLink>
      ),
    };
    return [
      { key: 'name', header: t('sources.name'), cell: ({ name }) => <CutName name={name} /> },
      { key: 'state', header: t('sources.state'), cell: (source) => <SourceState source={source} /> },
      { key: 'url', header: t('sources.url'), elastic: true, from: 'sm', cell: ({ url }) => <LongName value={url} /> },
      ofOne ? branchColumn : datasetColumn,
      {
        key: 'objects',
        header: t('sources.objects'),
        align: 'right',
        from: 'md',
        cell: ({ last_scan }) => <Count value={last_scan?.objects_count} />,
      },
      {
        key: 'schedule',
        header: t('sources.schedule'),
        from: 'md',
        cell: (source) => <Schedule source={source} mayChange={mayChange} />,
      },
      {
        key: 'actions',
        header: t('sources.actions'),
        cell: (source) => mayChange && <RowActions source={source} setLeaving={setLeaving} />,
      },
    ];
  }, [t, mayChange, ofOne, setLeaving]);
}

function RowActions({ source, setLeaving }: { source: Source; setLeaving: Leaving }) {
  const { t } = useTranslation();
  const { remove } = useSourceActions();
  const back = () => setLeaving((before) => new Set([...before].filter((id) => id !== source.id)));
  const leave = () => {
    setLeaving((before) => new Set([...before, source.id]));
    confirmUndo({
      message: t('sources.removed', { name: source.name }),
      commit: () => remove(source.name),
      rollback: back,
    });
  };
  return (
    <Button.Group>
      <ScanButton source={source} />
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('sources.removeNamed', { name: source.name })}
        onClick={leave}
      >
        {t('sources.remove')}
      </Button>
    </Button.Group>
  );
}

function NoSources({ dataset, onAdd }: { dataset?: string; onAdd?: () => void }) {
  const { t } = useTranslation();
  const action = (
    <Stack align="center" gap="xs">
      {onAdd && (
        <Button variant="default" onClick={onAdd}>
          {t('sources.new')}
        </Button>
      )}
      <CommandLine command={`atom source add photos s3://bucket/prefix --to ${dataset ?? 'pets'}`} />
    </Stack>
  );
  return <EmptyState icon={IconCloudDataConnection} title={t('sources.empty')} action={action} />;
}
