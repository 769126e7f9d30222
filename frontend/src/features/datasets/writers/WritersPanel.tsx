import { ActionIcon, Card, Group, Text, Title, Tooltip } from '@mantine/core';
import { IconCheck, IconEye, IconGitBranch, IconPencil, IconTrash, IconUserCheck } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Side } from '@/api/contract/datasets';
import { problemWords } from '@/shared/domain/problemWords';
import { useMay } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { IconLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { confirmUndo, notifyError, notifySuccess } from '@/shared/ui/undo';
import { Bytes } from '@/shared/ui/values';
import { personName } from '../names';
import { type Open, useAbandonWriter, useCommitWriter, useOpenWriters } from './queries';

const CONFLICT = 'merge_conflict';

/** The open writers of the dataset: browsed, committed, abandoned. */
export function WritersPanel({ name }: { name: string }) {
  const { t } = useTranslation();
  const writers = useOpenWriters(name);
  // A writer disappears from the page before the server abandons it.
  const [going, setGoing] = useState<ReadonlySet<string>>(new Set());
  const columns = useColumns(name, setGoing);
  return (
    <section aria-label={t('writers.title')}>
      <Title order={2} size="h4">
        {t('writers.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('writers.hint')}
      </Text>
      <Card p={0}>
        <DataTable
          {...writers}
          rows={writers.rows?.filter(({ row }) => !going.has(row.id))}
          label={t('writers.title')}
          columns={columns}
          rowKey={({ row }) => row.id}
          empty={
            <EmptyState
              icon={IconPencil}
              title={t('writers.empty')}
              action={<CommandLine command={`with Client().datasets.writer("${name}") as writer: ...`} />}
            />
          }
        />
      </Card>
    </section>
  );
}

type SetGoing = (change: (old: ReadonlySet<string>) => ReadonlySet<string>) => void;

function useWhat() {
  const { t } = useTranslation();
  return ({ kind, row }: Open) =>
    kind === 'job' ? t('writers.job', { name: row.name }) : t('writers.writer', { id: row.id.slice(-8) });
}

function useColumns(name: string, setGoing: SetGoing): Column<Open>[] {
  const { t } = useTranslation();
  const what = useWhat();
  const mayWrite = useMay('researcher');
  return [
    {
      key: 'what',
      header: t('writers.what'),
      cell: (open) => (
        <>
          <Text size="sm">{what(open)}</Text>
          {open.row.message && (
            <Text size="xs" c="dimmed">
              {open.row.message}
            </Text>
          )}
        </>
      ),
    },
    { key: 'state', header: t('writers.state'), cell: ({ row }) => <State row={row} /> },
    { key: 'persisted', header: t('writers.persisted'), cell: (open) => <Persisted open={open} /> },
    { key: 'target', header: t('writers.target'), from: 'md', cell: ({ row }) => row.branch },
    { key: 'by', header: t('writers.by'), from: 'md', cell: ({ row }) => personName(row.created_by) },
    { key: 'since', header: t('writers.since'), from: 'sm', cell: ({ row }) => <RelativeTime at={row.created_at} /> },
    {
      key: 'actions',
      header: t('writers.actions'),
      align: 'right',
      cell: (open) => <Actions name={name} open={open} mayWrite={mayWrite} setGoing={setGoing} />,
    },
  ];
}

function State({ row }: { row: Open['row'] }) {
  return (
    <>
      <StateBadge state={row.state} />
      {row.error && (
        <Text size="xs" c="red">
          {problemWords(row.error).detail}
        </Text>
      )}
    </>
  );
}

function Persisted({ open: { kind, row } }: { open: Open }) {
  const { t } = useTranslation();
  if (kind === 'job')
    return (
      <Text size="sm">
        {t('writers.tasks', { count: row.tasks_committed })} · {t('writers.attempts', { count: row.attempts_open })}
      </Text>
    );
  return (
    <Text size="sm">
      {t('writers.files', { count: row.files_written })} · <Bytes value={row.bytes_written} />
      {row.files_removed > 0 && <> · {t('writers.removed', { count: row.files_removed })}</>}
      {row.waiting_files > 0 && <> · {t('writers.waiting', { count: row.waiting_files })}</>}
    </Text>
  );
}

interface ActionsProps {
  name: string;
  open: Open;
  mayWrite: boolean;
  setGoing: SetGoing;
}

function Actions({ name, open, mayWrite, setGoing }: ActionsProps) {
  const { t } = useTranslation();
  const what = useWhat()(open);
  const send = useCommitWriter(name);
  const abandon = useAbandon(name, setGoing);
  const [isCommitting, setCommitting] = useState(false);
  const commit = (side: Side) => {
    setCommitting(true);
    void send(open, side)
      .then(({ version }) => notifySuccess(t('writers.committed', { what, ref: version?.ref ?? '' })))
      .catch(notifyError)
      .finally(() => setCommitting(false));
  };
  const has = hasPersisted(open);
  const clashes = open.row.error?.code === CONFLICT;
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {open.kind === 'writer' && open.row.staging && has && (
        <Tooltip label={t('writers.browse', { what })}>
          <IconLink
            to="/datasets/$name"
            params={{ name }}
            search={{ ref: open.row.staging }}
            aria-label={t('writers.browse', { what })}
          >
            <IconEye size={15} />
          </IconLink>
        </Tooltip>
      )}
      {mayWrite && has && !clashes && (
        <Action label={t('writers.commit', { what })} busy={isCommitting} onClick={() => commit('fail')}>
          <IconCheck size={15} />
        </Action>
      )}
      {mayWrite && clashes && (
        <>
          <Action label={t('writers.commitOurs', { what })} busy={isCommitting} onClick={() => commit('ours')}>
            <IconGitBranch size={15} />
          </Action>
          <Action label={t('writers.commitTheirs', { what })} busy={isCommitting} onClick={() => commit('theirs')}>
            <IconUserCheck size={15} />
          </Action>
        </>
      )}
      {mayWrite && (
        <Action label={t('writers.abandon', { what })} busy={isCommitting} onClick={() => abandon(open, what)}>
          <IconTrash size={15} />
        </Action>
      )}
    </Group>
  );
}

function hasPersisted({ kind, row }: Open): boolean {
  return kind === 'job' ? row.tasks_committed > 0 : row.files_written + row.files_removed > 0;
}

function useAbandon(name: string, setGoing: SetGoing) {
  const { t } = useTranslation();
  const send = useAbandonWriter(name);
  return (open: Open, what: string) => {
    const { id } = open.row;
    const back = () => setGoing((old) => new Set([...old].filter((one) => one !== id)));
    setGoing((old) => new Set([...old, id]));
    confirmUndo({
      message: t('writers.abandoning', { what }),
      rollback: back,
      commit: () => send(open).then(back),
    });
  };
}

interface ActionProps {
  label: string;
  busy: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Action({ label, busy, onClick, children }: ActionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} loading={busy} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
