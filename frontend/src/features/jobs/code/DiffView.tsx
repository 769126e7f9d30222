import { Badge, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CodeDiff, FileDiff } from '@/api/contract/jobs';
import { ErrorState } from '@/shared/ui/ErrorState';
import classes from './code.module.css';

const COLORS = { added: 'green', removed: 'red', changed: 'blue' } as const;
/** Files that are unfolded at first. */
const OPEN_FILES = 3;

interface Reading {
  data?: CodeDiff;
  error: unknown;
  refetch: () => unknown;
}

/** The answer to a question for changes: the files, or why there are none. */
export function DiffResult({ query }: { query: Reading }) {
  const { t } = useTranslation();
  if (query.error && !query.data)
    return <ErrorState compact error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton height={80} aria-busy />;
  const { files, reason, commit, truncated } = query.data;
  if (reason) return <Text c="dimmed">{t(`runpage.code.reason.${reason}`, { commit: commit.slice(0, 10) })}</Text>;
  return (
    <Stack gap="xs">
      <Text size="sm">{t('runpage.code.summary', { count: files.length })}</Text>
      {files.map((file, index) => (
        <File key={file.path} file={file} open={index < OPEN_FILES} />
      ))}
      {truncated && <Text c="dimmed">{t('runpage.code.truncated')}</Text>}
    </Stack>
  );
}

function File({ file, open: first }: { file: FileDiff; open: boolean }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(first);
  const { path, status, added, removed, omitted } = file;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className={classes.file}>
      <summary>
        <Group gap="xs" component="span" display="inline-flex">
          <Text component="span" ff="monospace" size="sm" className={classes.path}>
            {path}
          </Text>
          <Badge component="span" color={COLORS[status]}>
            {t(`runpage.code.status.${status}`)}
          </Badge>
          <Text component="span" size="xs" c="dimmed">
            {t('runpage.code.lines', { added, removed })}
          </Text>
        </Group>
      </summary>
      {open && omitted && <Text size="sm">{t(`runpage.code.omitted.${omitted}`)}</Text>}
      {open && !omitted && file.hunks && <Hunks file={file} />}
    </details>
  );
}

const KINDS: Record<string, string | undefined> = { '+': 'added', '-': 'removed', '@': 'head' };

function Hunks({ file }: { file: FileDiff }) {
  const { t } = useTranslation();
  const lines = file.hunks.replace(/\n$/, '').split('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard
    <section className={classes.hunks} tabIndex={0} aria-label={t('runpage.code.patch', { path: file.path })}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are where they are
        <div key={index} data-kind={KINDS[line[0] ?? '']} className={classes.row}>
          {line || ' '}
        </div>
      ))}
    </section>
  );
}
