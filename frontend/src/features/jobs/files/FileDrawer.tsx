import { Button, Code, Drawer, Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { CatchBoundary } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Artifact, FilePreviewData } from '@/api/contract/jobs';
import { isTableReason, TableView } from '@/shared/grid/TableView';
import { whenReachable } from '@/shared/live/connection';
import { CopyId } from '@/shared/ui/CopyId';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFocusBack } from '@/shared/ui/focusBack';
import { Bytes } from '@/shared/ui/values';
import { useFile, useFilePreview } from '../queries';
import { FileState } from './FileState';
import classes from './files.module.css';
import { TreeView } from './TreeView';

// A parser of Markdown and uPlot stay out of the page's first chunk.
const MarkdownView = lazy(whenReachable(async () => ({ default: (await import('./MarkdownView')).MarkdownView })));
const ScalarsView = lazy(whenReachable(async () => ({ default: (await import('./ScalarsView')).ScalarsView })));

/** One file: what it is, what it holds, and the whole of it to download. */
export function FileDrawer({ runId, fileId, onClose }: { runId: string; fileId: string; onClose: () => void }) {
  const { t } = useTranslation();
  const file = useFile(runId, fileId);
  useFocusBack();
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      title={
        <Text fw={600} className={classes.name}>
          {file.data?.path ?? t('jobs.files.path')}
        </Text>
      }
      size="xl"
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {file.error && !file.data ? (
        <ErrorState error={file.error} onRetry={() => void file.refetch()} />
      ) : file.data ? (
        <Contents runId={runId} file={file.data} />
      ) : (
        <Skeleton height={240} />
      )}
    </Drawer>
  );
}

function Contents({ runId, file }: { runId: string; file: Artifact }) {
  const { t } = useTranslation();
  const preview = useFilePreview(runId, file.id, file.state);
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            <Bytes value={file.size_bytes} />
          </Text>
          <FileState state={file.state} />
          {file.step !== null && <Text size="sm">{t('runpage.files.checkpointOf', { step: file.step })}</Text>}
          <Text size="sm">{t('runpage.files.ofAttempt', { number: file.attempt })}</Text>
          <CopyId value={file.sha256} />
        </Group>
        {file.download_url && (
          <Button
            component="a"
            href={file.download_url}
            download={file.path.split('/').at(-1)}
            variant="default"
            leftSection={<IconDownload size={14} />}
          >
            {t('common.download')}
          </Button>
        )}
      </Group>
      {preview.error ? (
        <ErrorState error={preview.error} onRetry={() => void preview.refetch()} />
      ) : preview.data ? (
        <Suspense fallback={<Skeleton height={240} />}>
          <View runId={runId} file={file} preview={preview.data} />
        </Suspense>
      ) : (
        <Skeleton height={240} aria-busy />
      )}
    </>
  );
}

/** A picture from our own origin: the page's policy allows no other. */
function Picture({ address, path }: { address: string; path: string }) {
  const { t } = useTranslation();
  const [broken, setBroken] = useState(false);
  if (broken)
    return (
      <Text c="dimmed" py="xl" ta="center">
        {t('runpage.preview.none.no_picture')}
      </Text>
    );
  return (
    <img
      src={address}
      alt={t('runpage.preview.image', { path })}
      className={classes.picture}
      onError={() => setBroken(true)}
    />
  );
}

function Source({ text }: { text: string }) {
  return (
    <Code block className={classes.source} tabIndex={0}>
      {text}
    </Code>
  );
}

function Unreadable({ text }: { text: string }) {
  const { t } = useTranslation();
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs" role="status">
        {t('runpage.preview.notRendered')}
      </Text>
      <Source text={text} />
    </>
  );
}

function View({ runId, file, preview }: { runId: string; file: Artifact; preview: FilePreviewData }) {
  const { t } = useTranslation();
  const [source, setSource] = useState('rendered');
  if (file.size_bytes === 0)
    return (
      <Text c="dimmed" py="xl" ta="center">
        {t('runpage.preview.empty')}
      </Text>
    );
  if (preview.kind === 'none')
    return (
      <Text c="dimmed" py="xl" ta="center">
        {isTableReason(preview.reason)
          ? t(`table.reasons.${preview.reason}`)
          : t(`runpage.preview.none.${preview.reason || 'unknown'}`)}
      </Text>
    );
  return (
    <>
      {preview.truncated && (
        <Text size="sm" c="dimmed" mb="xs">
          {t('runpage.preview.cut')}
        </Text>
      )}
      {preview.kind === 'image' && (
        <Picture address={`/api/v1/runs/${runId}/files/${file.id}/picture/`} path={file.path} />
      )}
      {preview.kind === 'table' && preview.table && <TableView table={preview.table} reason={preview.reason} />}
      {preview.kind === 'tree' && <TreeView value={preview.value} numbers={preview.numbers} />}
      {preview.kind === 'scalars' && <ScalarsView curves={preview.curves} others={preview.others} />}
      {preview.kind === 'markdown' && (
        <SegmentedControl
          size="xs"
          mb="sm"
          aria-label={t('runpage.preview.view')}
          value={source}
          onChange={setSource}
          data={[
            { value: 'rendered', label: t('runpage.preview.rendered') },
            { value: 'raw', label: t('runpage.preview.raw') },
          ]}
        />
      )}
      {preview.kind === 'markdown' && source === 'rendered' && (
        // Thousands of quotes inside each other are more than the parser can take.
        <CatchBoundary getResetKey={() => file.id} errorComponent={() => <Unreadable text={preview.text} />}>
          <MarkdownView text={preview.text} />
        </CatchBoundary>
      )}
      {(preview.kind === 'text' || (preview.kind === 'markdown' && source === 'raw')) && <Source text={preview.text} />}
    </>
  );
}
