import { Button, Card } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCloudDataConnection, IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Source } from '@/api/contract/datasets';
import { CommandLine } from '@/shared/CommandLine';
import { CutName } from '@/shared/CutName';
import { useCommands } from '@/shared/commands';
import { type Column, DataTable } from '@/shared/DataTable';
import { EmptyState } from '@/shared/EmptyState';
import { LongName } from '@/shared/LongName';
import { AnchorLink } from '@/shared/links';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { useMay } from '@/shared/project';
import { useShortcuts } from '@/shared/shortcuts';
import { confirmUndo } from '@/shared/undo';
import { Count } from '@/shared/values';
import { NewSource } from './NewSource';
import { useSourceActions, useSources } from './queries';
import { ScanButton } from './ScanButton';
import { Schedule } from './Schedule';
import { SourceState } from './SourceState';

/** Buckets, folders and lists that datasets follow in place. */
export function SourcesPage() {
  const { t } = useTranslation();
  const mayChange = useMay('researcher');
  const [adding, add] = useDisclosure();
  const sources = useSources();
  // Gone from the list at once; the server forgets them when nobody took it back.
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const columns = useColumns(mayChange, setLeaving);
  const rows = useMemo(() => sources.rows?.filter(({ id }) => !leaving.has(id)), [sources.rows, leaving]);
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
        <DataTable
          {...sources}
          rows={rows}
          label={t('sources.title')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<NoSources onAdd={mayChange ? add.open : undefined} />}
        />
      </Card>
      <NewSource opened={adding} onClose={add.close} />
    </Page>
  );
}

type Leaving = (change: (before: ReadonlySet<string>) => ReadonlySet<string>) => void;

function useColumns(mayChange: boolean, setLeaving: Leaving): Column<Source>[] {
  const { t } = useTranslation();
  return useMemo<Column<Source>[]>(
    () => [
      { key: 'name', header: t('sources.name'), cell: ({ name }) => <CutName name={name} /> },
      { key: 'state', header: t('sources.state'), cell: (source) => <SourceState source={source} /> },
      { key: 'url', header: t('sources.url'), elastic: true, from: 'sm', cell: ({ url }) => <LongName value={url} /> },
      {
        key: 'dataset',
        header: t('sources.dataset'),
        cell: ({ dataset, branch }) => (
          <AnchorLink to="/datasets/$name" params={{ name: dataset }} search={{ ref: branch }}>
            {`${dataset}@${branch}`}
          </AnchorLink>
        ),
      },
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
    ],
    [t, mayChange, setLeaving],
  );
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

function NoSources({ onAdd }: { onAdd?: () => void }) {
  const { t } = useTranslation();
  const hint = (
    <>
      {t('sources.emptyHint')}
      <CommandLine command="atom source add photos s3://bucket/prefix --to pets" />
    </>
  );
  const action = onAdd && (
    <Button variant="default" onClick={onAdd}>
      {t('sources.new')}
    </Button>
  );
  return <EmptyState icon={IconCloudDataConnection} title={t('sources.empty')} hint={hint} action={action} />;
}
