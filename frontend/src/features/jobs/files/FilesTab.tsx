import { ActionIcon, Anchor, Badge, Breadcrumbs, Button, Group, Text } from '@mantine/core';
import { IconDownload, IconFile, IconFolder } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Artifact, Run, RunFolder } from '@/api/contract/jobs';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { useFormat } from '@/shared/ui/format';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Bytes } from '@/shared/ui/values';
import { useRemovedOn } from '../keeping/queries';
import { useFolder } from '../queries';
import type { runSearch } from '../search';
import { FileDrawer } from './FileDrawer';
import { FileState } from './FileState';
import classes from './files.module.css';

const COLORS: Record<string, string> = { model: 'grape', checkpoint: 'orange', output: 'gray' };

type Row = { folder: RunFolder; file?: undefined } | { file: Artifact; folder?: undefined };

const nameOf = ({ folder, file }: Row) => folder?.name ?? (file as Artifact).path.split('/').at(-1) ?? '';

/** Files that the run has written so far, folder by folder; the address keeps the folder and the open file. */
export function FilesTab({ run, active }: { run: Run; active: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runSearch>;
  const path = search.folder ?? '';
  const listed = useFolder(run.id, path, active);
  const removedOn = useRemovedOn(run.id);
  const go = (values: Partial<typeof search>) =>
    void navigate({ to: '.', search: (old) => ({ ...old, tab: 'files', ...values }) });
  const rows: Row[] | undefined = listed.data && [
    ...listed.data.folders.map((folder): Row => ({ folder })),
    ...listed.data.files.map((file): Row => ({ file })),
  ];
  const columns = useColumns({
    openFolder: (name) => go({ folder: path ? `${path}/${name}` : name, file: undefined }),
    openFile: (file) => go({ file: file.id }),
  });
  return (
    <>
      <Trail path={path} onOpen={(folder) => go({ folder: folder || undefined, file: undefined })} />
      <DataTable
        label={t('jobs.tab.files')}
        columns={columns}
        rows={rows}
        error={listed.error}
        refetch={() => void listed.refetch()}
        rowKey={({ folder, file }) => folder?.name ?? (file as Artifact).id}
        empty={
          removedOn ? (
            <EmptyState icon={IconFile} title={t('keeping.filesGone', { date: removedOn })} />
          ) : path ? (
            <EmptyState icon={IconFolder} title={t('runpage.files.emptyFolder')} />
          ) : (
            <EmptyState icon={IconFile} title={active ? t('jobs.files.noneYet') : t('jobs.files.none')} />
          )
        }
      />
      {listed.data?.truncated && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('runpage.files.truncated')}
        </Text>
      )}
      {search.file && <FileDrawer runId={run.id} fileId={search.file} onClose={() => go({ file: undefined })} />}
    </>
  );
}

/** The folders from the top to this one. */
function Trail({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const { t } = useTranslation();
  if (!path) return null;
  const parts = path.split('/');
  return (
    <nav aria-label={t('runpage.files.where')} className={classes.trail}>
      <Breadcrumbs>
        <Anchor component="button" type="button" size="sm" onClick={() => onOpen('')}>
          {t('runpage.files.top')}
        </Anchor>
        {parts.map((part, index) => {
          const here = parts.slice(0, index + 1).join('/');
          return here === path ? (
            <Text key={here} size="sm" aria-current="page" className={classes.name}>
              {part}
            </Text>
          ) : (
            <Anchor key={here} component="button" type="button" size="sm" onClick={() => onOpen(here)}>
              {part}
            </Anchor>
          );
        })}
      </Breadcrumbs>
    </nav>
  );
}

interface Opening {
  openFolder: (name: string) => void;
  openFile: (file: Artifact) => void;
}

function useColumns({ openFolder, openFile }: Opening): Column<Row>[] {
  const { t } = useTranslation();
  const format = useFormat();
  const kindOf = (kind: string) => t(`jobs.files.kind.${kind}` as 'jobs.files.kind.model', { defaultValue: kind });
  return [
    {
      key: 'path',
      header: t('jobs.files.path'),
      sortValue: nameOf,
      cell: (row) => (
        <Button
          variant="transparent"
          p={0}
          h="auto"
          fw={550}
          className={classes.open}
          leftSection={row.folder ? <IconFolder size={15} /> : <IconFile size={15} />}
          aria-label={row.folder ? t('runpage.files.folder', { name: row.folder.name }) : undefined}
          onClick={() => (row.folder ? openFolder(row.folder.name) : openFile(row.file))}
        >
          {nameOf(row)}
        </Button>
      ),
    },
    {
      key: 'kind',
      header: t('jobs.files.kindTitle'),
      from: 'sm',
      cell: ({ folder, file }) =>
        folder ? (
          <Text size="sm" c="dimmed">
            {t('runpage.files.inside', { count: folder.files, shown: format.number(folder.files) })}
          </Text>
        ) : (
          <Badge color={COLORS[file.kind] ?? 'gray'}>{kindOf(file.kind)}</Badge>
        ),
      width: 120,
    },
    {
      key: 'size',
      header: t('jobs.files.size'),
      align: 'right',
      sortValue: ({ folder, file }) => (folder ?? file).size_bytes,
      cell: ({ folder, file }) => <Bytes value={(folder ?? file).size_bytes} />,
      width: 100,
    },
    {
      key: 'state',
      header: t('jobs.state'),
      from: 'sm',
      cell: ({ file }) => file && <FileState state={file.state} />,
      width: 120,
    },
    {
      key: 'created',
      header: t('jobs.created'),
      from: 'sm',
      align: 'right',
      sortValue: ({ folder, file }) => folder?.changed_at ?? (file as Artifact).created_at,
      cell: ({ folder, file }) => <RelativeTime at={folder?.changed_at ?? (file as Artifact).created_at} />,
      width: 130,
    },
    {
      key: 'download',
      header: t('common.download'),
      align: 'right',
      width: 90,
      cell: ({ file }) =>
        file?.download_url && (
          <Group justify="flex-end">
            <ActionIcon
              component="a"
              href={file.download_url}
              download={file.path.split('/').at(-1)}
              color="gray"
              aria-label={t('jobs.files.downloadOne', { path: file.path })}
            >
              <IconDownload size={15} />
            </ActionIcon>
          </Group>
        ),
    },
  ];
}
