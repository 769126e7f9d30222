import { ActionIcon, Badge, Button, Group } from '@mantine/core';
import { IconDownload, IconFile } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Artifact, Run } from '@/api/contract/jobs';
import { CopyId } from '@/shared/CopyId';
import { type Column, DataTable } from '@/shared/DataTable';
import { EmptyState } from '@/shared/EmptyState';
import { RelativeTime } from '@/shared/RelativeTime';
import { StateBadge } from '@/shared/StateBadge';
import { Bytes } from '@/shared/values';
import { useFiles } from '../queries';
import { FilePreview, previewKind } from './FilePreview';

const COLORS: Record<string, string> = { model: 'grape', checkpoint: 'orange', output: 'gray' };

export function FilesTab({ run, active }: { run: Run; active: boolean }) {
  const { t } = useTranslation();
  const files = useFiles(run.id, active);
  const [opened, setOpened] = useState<Artifact | null>(null);
  const kindOf = (kind: string) => t(`jobs.files.kind.${kind}` as 'jobs.files.kind.model', { defaultValue: kind });
  const columns: Column<Artifact>[] = [
    {
      key: 'path',
      header: t('jobs.files.path'),
      sortValue: (file) => file.path,
      cell: (file) =>
        previewKind(file) ? (
          <Button variant="transparent" p={0} h="auto" fw={550} onClick={() => setOpened(file)}>
            {file.path}
          </Button>
        ) : (
          file.path
        ),
    },
    {
      key: 'kind',
      header: t('jobs.files.kindTitle'),
      sortValue: (file) => file.kind,
      cell: (file) => <Badge color={COLORS[file.kind] ?? 'gray'}>{kindOf(file.kind)}</Badge>,
      width: 120,
    },
    {
      key: 'size',
      header: t('jobs.files.size'),
      align: 'right',
      sortValue: (file) => file.size_bytes,
      cell: (file) => <Bytes value={file.size_bytes} />,
      width: 100,
    },
    { key: 'sha256', header: 'SHA-256', from: 'md', cell: (file) => <CopyId value={file.sha256} />, width: 170 },
    {
      key: 'state',
      header: t('jobs.state'),
      from: 'sm',
      cell: (file) => <StateBadge state={file.state} />,
      width: 120,
    },
    {
      key: 'created',
      header: t('jobs.created'),
      from: 'sm',
      align: 'right',
      sortValue: (file) => file.created_at,
      cell: (file) => <RelativeTime at={file.created_at} />,
      width: 130,
    },
    {
      key: 'download',
      header: t('common.download'),
      align: 'right',
      width: 90,
      cell: (file) =>
        file.download_url && (
          <ActionIcon
            component="a"
            href={file.download_url}
            download={file.path.split('/').at(-1)}
            color="gray"
            aria-label={t('jobs.files.downloadOne', { path: file.path })}
          >
            <IconDownload size={15} />
          </ActionIcon>
        ),
    },
  ];
  return (
    <Group align="stretch" display="block">
      <DataTable
        label={t('jobs.tab.files')}
        columns={columns}
        rows={files.data?.results}
        error={files.error}
        refetch={() => void files.refetch()}
        rowKey={(file) => file.id}
        empty={
          <EmptyState
            icon={IconFile}
            title={t('jobs.files.none')}
            hint={active ? t('jobs.files.noneYet') : t('jobs.files.noneHint')}
          />
        }
      />
      {opened && <FilePreview file={opened} onClose={() => setOpened(null)} />}
    </Group>
  );
}
