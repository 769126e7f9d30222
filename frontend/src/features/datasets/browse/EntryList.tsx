import { Badge, Box, Card } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, Entry } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CopyId } from '@/shared/ui/CopyId';
import { useFormat } from '@/shared/ui/format';
import { LongName } from '@/shared/ui/LongName';
import { Bytes } from '@/shared/ui/values';
import { EditBar } from '../operations/EditBar';
import type { OnVersion } from '../operations/edited';
import { useEntryList, useStats, type VersionAddress } from '../queries';
import classes from './browse.module.css';
import { NoFiles } from './EntryGrid';
import { type BrowseSearch, queryOf } from './useBrowse';

interface EntryListProps {
  address: VersionAddress;
  /** The branch that edits go to, whose newest version this is; none for an older one. */
  branch: Branch | undefined;
  search: BrowseSearch;
  isExact: boolean;
  onClear: () => void;
  onVersion: OnVersion;
}

/** The files as rows: for data that has no pictures, and for reading paths and sizes. */
export function EntryList({ address, branch, search, isExact, onClear, onVersion }: EntryListProps) {
  const { t } = useTranslation();
  const entries = useEntryList(address, queryOf(search));
  const columns = useColumns(Boolean(useStats(address.dataset, address.ref).data?.annotated));
  const mayEdit = useMay('researcher');
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const selection = mayEdit ? { selected, onSelect: setSelected } : {};
  return (
    <Card p={0} className={classes.list}>
      <EditBar
        name={address.dataset}
        branch={branch}
        source={address.ref}
        of={{ paths: [...selected] }}
        count={selected.size}
        onClear={() => setSelected(new Set())}
        onDone={onVersion}
      />
      <DataTable
        {...entries}
        {...selection}
        label={t('datasets.files')}
        columns={columns}
        rowKey={({ path }) => path}
        rowLink={({ path }) => ({
          to: '/datasets/$name',
          params: { name: address.dataset },
          search: (old: object) => ({ ...old, item: path }),
        })}
        empty={<NoFiles search={search} isExact={isExact} onClear={onClear} />}
      />
    </Card>
  );
}

/** Short names are never cut, however long the path beside them is. */
function Label({ name }: { name: string | null }) {
  if (!name) return '–';
  return (
    <Box miw={112}>
      <Badge title={name}>{name}</Badge>
    </Box>
  );
}

/** Numbers of objects stand where the version has annotated pictures. */
function useColumns(hasObjects: boolean): Column<Entry>[] {
  const { t } = useTranslation();
  const format = useFormat();
  return useMemo<Column<Entry>[]>(() => {
    const objects: Column<Entry> = {
      key: 'objects',
      header: t('drawn.objects'),
      align: 'right',
      cell: ({ annotations }) => (annotations ? format.number(annotations.objects_total) : '–'),
    };
    return [
      {
        key: 'path',
        header: t('datasets.path'),
        cell: ({ path, link }) => <LongName value={link ? `${path} → ${link.target}` : path} />,
        elastic: true,
      },
      { key: 'label', header: t('datasets.labelFilter'), cell: ({ label }) => <Label name={label} /> },
      ...(hasObjects ? [objects] : []),
      { key: 'split', header: t('datasets.split'), cell: ({ split }) => split ?? '–' },
      { key: 'type', header: t('datasets.type'), from: 'md', nowrap: true, cell: ({ media_type }) => media_type },
      {
        key: 'size',
        header: t('datasets.size'),
        align: 'right',
        cell: ({ size_bytes }) => <Bytes value={size_bytes} />,
      },
      {
        key: 'digest',
        header: t('datasets.digest'),
        from: 'lg',
        cell: ({ digest }) => <CopyId value={digest} chars={10} />,
      },
    ];
  }, [t, format, hasObjects]);
}
