import { ActionIcon, Badge, Group, SegmentedControl, Select, Switch, Text, Tooltip } from '@mantine/core';
import { IconClock } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LogMatch, Run } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { useStored } from '@/shared/ui/stored';
import { useRemovedOn } from '../keeping/queries';
import type { runSearch } from '../search';
import { isActive, isWaiting } from '../states';
import { FeedBadge } from './FeedBadge';
import { NOTHING, ofSpans, ofText } from './highlight';
import { LogDownload } from './LogDownload';
import { LogFinder } from './LogFinder';
import { LogView } from './LogView';
import classes from './log.module.css';
import type { LogFeed } from './logFeed';
import type { LogFilter, LogStore } from './logStore';
import { RankSelect } from './RankSelect';
import { asked, type Find, useLogSearch } from './useLogSearch';

export interface LogTabProps {
  run: Run;
  attempt: number | undefined;
  /** The rank whose log is shown; 0 where a run has one node. */
  rank: number;
  store: LogStore;
  feed: LogFeed;
  revision: number;
}

export function LogTab({ run, attempt, rank, store, feed, revision }: LogTabProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runSearch>;
  const [filter, setFilter] = useState<LogFilter>('all');
  const [query, setQuery] = useState(search.q ?? '');
  const find: Find = search.find ?? 'text';
  const matchCase = search.case ?? false;
  const [times, setTimes] = useStored('atom-log-times', 'no');
  const [follow, setFollow] = useState(isActive(run) && search.line === undefined && !search.q && !search.find);
  const wanted = { query, find, matchCase, filter, rank };
  const { hits, matches, settled, active, searching, error } = useLogSearch({ store, runId: run.id, attempt }, wanted);
  const [target, setTarget] = useState(search.line === undefined ? null : { line: search.line - 1, nonce: 0 });
  const field = useRef<HTMLInputElement>(null);
  const marked = search.line === undefined ? null : search.line - 1;
  const current = Math.max(0, marked === null ? 0 : hits.indexOf(marked));

  const setSearch = (values: Partial<typeof search>) =>
    void navigate({ to: '.', search: (old) => ({ ...old, ...values }), replace: true });
  const show = (line: number) => {
    setFollow(false);
    setTarget((old) => ({ line, nonce: (old?.nonce ?? 0) + 1 }));
    setSearch({ line: line + 1, q: settled || undefined });
  };
  const step = (by: 1 | -1) => {
    const hit = hits[(current + by + hits.length) % hits.length];
    if (hit !== undefined) show(hit);
  };
  // Once per question, not whenever the log grows. The log may come after the query, as with a link that names one;
  // a line that the link names is shown rather than the first match.
  const found = hits.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (active && found && (marked === null || !hits.includes(marked))) show(hits[0] as number);
    else if ((search.q ?? '') !== settled) setSearch({ q: settled || undefined });
  }, [settled, filter, find, matchCase, found]);

  useShortcuts([
    { keys: '/', label: t('runlog.find'), run: () => field.current?.focus() },
    { keys: 'F', label: t('runlog.follow'), run: () => setFollow((on) => !on) },
    { keys: 'E', label: t('runlog.firstError'), run: () => setSearch({ find: 'errors', line: undefined }) },
    { keys: 'N', label: t('runlog.next'), run: () => step(1) },
    { keys: 'P', label: t('runlog.previous'), run: () => step(-1) },
  ]);

  const highlightOf = useCallback(
    (line: number) => {
      if (!active) return NOTHING;
      if (find === 'text') return ofText(settled, matchCase);
      const match = matches.get(line);
      return match && !match.cut ? ofSpans(match.spans) : NOTHING;
    },
    [active, find, settled, matchCase, matches],
  );

  const removedOn = useRemovedOn(run.id);
  const emptyText =
    feed.state === 'loading'
      ? t('common.loading')
      : feed.state === 'paused'
        ? t('live.paused')
        : isWaiting(run)
          ? t('runlog.notStarted')
          : removedOn
            ? t('keeping.logGone', { date: removedOn })
            : t(isActive(run) ? 'runlog.empty' : 'runlog.silent');
  const attempts = run.attempts.map(({ number }) => ({
    value: String(number),
    label: t('jobs.attemptNumber', { number }),
  }));
  const ranks = run.attempts.find(({ number }) => number === attempt)?.ranks ?? [];
  const wrong = error == null ? undefined : fieldWords(asApiError(error)).q;
  const finding = find === 'errors' && hits[current] !== undefined ? matches.get(hits[current]) : undefined;

  return (
    <>
      <Group gap="xs" mb="xs" wrap="wrap" align="flex-start">
        <LogFinder
          field={field}
          query={find === 'errors' ? '' : query}
          find={find}
          matchCase={matchCase}
          count={active && !wrong ? hits.length : null}
          current={current}
          searching={searching}
          error={wrong}
          onQuery={(text) => {
            setQuery(text);
            if (find === 'errors' && text) setSearch({ find: undefined });
          }}
          onFind={(next) => setSearch({ find: next === 'text' ? undefined : next, line: undefined })}
          onCase={(on) => setSearch({ case: on || undefined, line: undefined })}
          onStep={step}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('runlog.stream')}
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
        <RankSelect ranks={ranks} chosen={String(rank)} />
        <Group gap="xs" mih={30}>
          <Switch
            size="xs"
            label={t('runlog.follow')}
            checked={follow}
            onChange={(event) => setFollow(event.currentTarget.checked)}
          />
          <FeedBadge feed={feed} />
          <Text size="xs" c="dimmed" className="tabular">
            {t('runlog.lines', { count: store.total, shown: format.number(store.count(filter)) })}
          </Text>
          <Tooltip label={t('runlog.times')}>
            <ActionIcon
              color={times === 'yes' ? undefined : 'gray'}
              aria-label={t('runlog.times')}
              aria-pressed={times === 'yes'}
              onClick={() => setTimes(times === 'yes' ? 'no' : 'yes')}
            >
              <IconClock size={15} />
            </ActionIcon>
          </Tooltip>
          <LogDownload
            run={run.id}
            attempt={attempt}
            rank={rank}
            wanted={asked({ ...wanted, query: settled }, false)}
          />
        </Group>
      </Group>
      {finding && <Finding match={finding} />}
      {feed.state === 'failed' && <ErrorState error={feed.error} onRetry={() => feed.resume()} compact retrying />}
      {error != null && wrong === undefined && <ErrorState error={error} compact />}
      <LogView
        store={store}
        revision={revision}
        filter={filter}
        highlightOf={highlightOf}
        follow={follow}
        onFollow={setFollow}
        showTimes={times === 'yes'}
        target={target}
        marked={marked}
        onMark={(line) => {
          setFollow(false);
          setSearch({ line: line + 1 });
        }}
        emptyText={emptyText}
      />
    </>
  );
}

/** The error that is shown: what it is, and how a traceback ends. */
function Finding({ match }: { match: LogMatch }) {
  const { t } = useTranslation();
  return (
    <div className={classes.finding} role="status">
      <Badge color="red">{t(`runlog.kind.${match.kind || 'error'}`)}</Badge>
      <code>{match.summary || match.text}</code>
    </div>
  );
}
