import { ActionIcon, Group, SegmentedControl, Select, Switch, Text, TextInput, Tooltip } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconClock, IconDownload, IconSearch } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { ErrorState } from '@/shared/ErrorState';
import { useFormat } from '@/shared/format';
import { useShortcuts } from '@/shared/shortcuts';
import { useStored } from '@/shared/stored';
import { rawLogUrl } from '../queries';
import type { runSearch } from '../search';
import { isActive, isWaiting } from '../states';
import { FeedBadge } from './FeedBadge';
import { LogView } from './LogView';
import type { LogFeed } from './logFeed';
import type { LogFilter, LogStore } from './logStore';
import { useLogSearch } from './useLogSearch';

export interface LogTabProps {
  run: Run;
  attempt: number | undefined;
  store: LogStore;
  feed: LogFeed;
  revision: number;
}

export function LogTab({ run, attempt, store, feed, revision }: LogTabProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runSearch>;
  const [filter, setFilter] = useState<LogFilter>('all');
  const [query, setQuery] = useState(search.q ?? '');
  const [times, setTimes] = useStored('atom-log-times', 'no');
  const [follow, setFollow] = useState(isActive(run) && search.line === undefined && !search.q);
  const { hits, settled } = useLogSearch(store, revision, query, filter);
  const [current, setCurrent] = useState(0);
  const [target, setTarget] = useState(search.line === undefined ? null : { line: search.line - 1, nonce: 0 });
  const field = useRef<HTMLInputElement>(null);

  const setSearch = (values: Partial<typeof search>) =>
    void navigate({ to: '.', search: (old) => ({ ...old, ...values }), replace: true });
  const jump = (line: number) => {
    setFollow(false);
    setTarget((old) => ({ line, nonce: (old?.nonce ?? 0) + 1 }));
  };
  const go = (index: number) => {
    if (hits.length === 0) return;
    const wrapped = (index + hits.length) % hits.length;
    setCurrent(wrapped);
    jump(hits[wrapped] as number);
  };
  // The log may come after the query, as with a link that names one.
  const found = hits.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per query, not whenever the log grows
  useEffect(() => {
    if (settled && found) go(0);
    if ((search.q ?? '') !== settled) setSearch({ q: settled || undefined });
  }, [settled, filter, found]);

  useShortcuts([
    { keys: '/', label: t('jobs.log.find'), run: () => field.current?.focus() },
    { keys: 'F', label: t('jobs.log.follow'), run: () => setFollow((on) => !on) },
  ]);

  const emptyText =
    feed.state === 'loading'
      ? t('common.loading')
      : feed.state === 'paused'
        ? t('live.paused')
        : isWaiting(run)
          ? t('jobs.log.notStarted')
          : t('jobs.log.empty');
  const attempts = run.attempts.map(({ number }) => ({
    value: String(number),
    label: t('jobs.attemptNumber', { number }),
  }));
  const shown = settled && hits.length > 0 ? (hits[current] ?? null) : null;

  return (
    <>
      <Group gap="xs" mb="xs" wrap="wrap">
        <TextInput
          ref={field}
          size="xs"
          flex={1}
          miw={200}
          maw={420}
          aria-label={t('jobs.log.find')}
          placeholder={t('jobs.log.find')}
          leftSection={<IconSearch size={14} />}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') go(current + (event.shiftKey ? -1 : 1));
            if (event.key === 'Escape') setQuery('');
          }}
          rightSectionWidth={112}
          rightSection={
            settled ? (
              <Text size="xs" c="dimmed" className="tabular" role="status">
                {hits.length === 0
                  ? t('jobs.log.noMatch')
                  : t('jobs.log.match', {
                      at: format.number(current + 1),
                      count: hits.length,
                      total: format.number(hits.length),
                    })}
              </Text>
            ) : undefined
          }
        />
        <ActionIcon
          variant="default"
          disabled={hits.length === 0}
          aria-label={t('jobs.log.previous')}
          onClick={() => go(current - 1)}
        >
          <IconChevronUp size={15} />
        </ActionIcon>
        <ActionIcon
          variant="default"
          disabled={hits.length === 0}
          aria-label={t('jobs.log.next')}
          onClick={() => go(current + 1)}
        >
          <IconChevronDown size={15} />
        </ActionIcon>
        <SegmentedControl
          size="xs"
          aria-label={t('jobs.log.stream')}
          value={filter}
          onChange={(value) => setFilter(value as LogFilter)}
          data={[
            { value: 'all', label: t('common.all') },
            { value: 'stdout', label: 'stdout' },
            { value: 'stderr', label: 'stderr' },
          ]}
        />
        {attempts.length > 1 && (
          <Select
            size="xs"
            w={130}
            aria-label={t('jobs.attempt')}
            allowDeselect={false}
            data={attempts}
            value={String(attempt ?? attempts.at(-1)?.value)}
            onChange={(value) => setSearch({ attempt: value ? Number(value) : undefined, line: undefined })}
          />
        )}
        <Switch
          size="xs"
          label={t('jobs.log.follow')}
          checked={follow}
          onChange={(event) => setFollow(event.currentTarget.checked)}
        />
        <FeedBadge feed={feed} />
        <Text size="xs" c="dimmed" className="tabular">
          {t('jobs.log.lines', { count: store.total, shown: format.number(store.count(filter)) })}
        </Text>
        <Tooltip label={t('jobs.log.times')}>
          <ActionIcon
            color={times === 'yes' ? undefined : 'gray'}
            aria-label={t('jobs.log.times')}
            aria-pressed={times === 'yes'}
            onClick={() => setTimes(times === 'yes' ? 'no' : 'yes')}
          >
            <IconClock size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t('jobs.log.download')}>
          <ActionIcon
            component="a"
            color="gray"
            href={rawLogUrl(run.id, attempt)}
            download
            aria-label={t('jobs.log.download')}
          >
            <IconDownload size={15} />
          </ActionIcon>
        </Tooltip>
      </Group>
      {feed.state === 'failed' && <ErrorState error={feed.error} onRetry={() => feed.resume()} compact retrying />}
      <LogView
        store={store}
        revision={revision}
        filter={filter}
        query={settled}
        follow={follow}
        onFollow={setFollow}
        showTimes={times === 'yes'}
        target={target}
        marked={shown ?? (search.line === undefined ? null : search.line - 1)}
        onMark={(line) => {
          setFollow(false);
          setSearch({ line: line + 1 });
        }}
        emptyText={emptyText}
      />
    </>
  );
}
