import { Button, Code, Drawer, Group, Skeleton, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Artifact } from '@/api/contract/jobs';
import { ErrorState } from '@/shared/ErrorState';
import { useFocusBack } from '@/shared/focusBack';
import { Bytes } from '@/shared/values';
import classes from './detail.module.css';

const MAX_TEXT_BYTES = 256 * 1024;
const MAX_IMAGE_BYTES = 8 * 1024 * 1024;

export function previewKind({ path, size_bytes: sizeBytes, download_url: url }: Artifact): 'text' | 'image' | null {
  if (!url) return null;
  if (/\.(png|jpe?g|gif|webp)$/i.test(path)) return sizeBytes <= MAX_IMAGE_BYTES ? 'image' : null;
  const isText = /\.(txt|log|json|jsonl|ya?ml|toml|csv|md|py|cfg|ini)$/i.test(path);
  return isText && sizeBytes <= MAX_TEXT_BYTES ? 'text' : null;
}

function pretty(path: string, text: string): string {
  if (!path.endsWith('.json')) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // Shown as it is: a broken file is what one wants to look at.
  }
}

export function FilePreview({ file, onClose }: { file: Artifact; onClose: () => void }) {
  const { t } = useTranslation();
  const kind = previewKind(file);
  useFocusBack();
  return (
    <Drawer
      opened
      onClose={onClose}
      title={
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {file.path}
        </Text>
      }
      size="xl"
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          <Bytes value={file.size_bytes} />
        </Text>
        <Button
          component="a"
          href={file.download_url ?? ''}
          download={file.path.split('/').at(-1)}
          variant="default"
          leftSection={<IconDownload size={14} />}
        >
          {t('common.download')}
        </Button>
      </Group>
      {kind === 'image' && <img src={file.download_url ?? ''} alt={file.path} className={classes.previewImage} />}
      {kind === 'text' && <TextPreview file={file} />}
    </Drawer>
  );
}

function TextPreview({ file }: { file: Artifact }) {
  const text = useQuery({
    queryKey: ['file', file.id],
    queryFn: async ({ signal }) => {
      const response = await fetch(file.download_url ?? '', { signal });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return response.text();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (text.error) return <ErrorState error={text.error} onRetry={() => void text.refetch()} />;
  if (text.data === undefined) return <Skeleton height={200} />;
  return (
    <Code block className={classes.preview} tabIndex={0}>
      {pretty(file.path, text.data)}
    </Code>
  );
}
