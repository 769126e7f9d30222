import { Skeleton, Stack, Tabs } from '@mantine/core';
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useProjectOf } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { FailedPage } from '@/shared/ui/FailedPage';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { ReportOrigin } from '@/shared/ui/print/PrintReport';
import { usePrinting } from '@/shared/ui/print/printing';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { CommentsTab } from '../comments/CommentsTab';
import { FilesTab } from '../files/FilesTab';
import { RunKept } from '../keeping/RunKept';
import { LogTab } from '../log/LogTab';
import { MergedLog } from '../log/MergedLog';
import { useLog } from '../log/useLog';
import { useRun, useRunNumbered } from '../queries';
import type { runSearch } from '../search';
import { isActive, isInCluster, isTracked, isWaiting } from '../states';
import { ConfigTab } from './ConfigTab';
import { Described } from './Described';
import classes from './detail.module.css';
import { EventsTab } from './EventsTab';
import { FailureComing, FailurePanel } from './FailurePanel';
import { RunHeader } from './RunHeader';
import { RunReport } from './RunReport';
import { useRunLive } from './useRunLive';
import { WhyPanel } from './WhyPanel';

// uPlot stays out of the page's first chunk.
const CurvesTab = lazy(whenReachable(async () => ({ default: (await import('../curves/CurvesTab')).CurvesTab })));
const SystemTab = lazy(whenReachable(async () => ({ default: (await import('../curves/SystemTab')).SystemTab })));

const TABS = ['log', 'curves', 'system', 'files', 'events', 'config', 'comments'] as const;
type Tab = (typeof TABS)[number];
// A run that runs elsewhere has no log here.
const TRACKED_TABS: readonly Tab[] = TABS.filter((name) => name !== 'log');

/** Workflows that keep what the model says of single files. */
const PREDICTING = new Set(['image-classification', 'evaluate-classifier', 'object-detection', 'evaluate-detector']);

export function RunPage() {
  const { t } = useTranslation();
  const { runId = '' } = useParams({ strict: false });
  const number = /^\d{1,9}$/.test(runId) ? Number(runId) : null;
  const numbered = useRunNumbered(number);
  const run = useRun(runId, number === null);
  useProjectOf(run.data);
  if (numbered.data) return <Navigate to="/runs/$runId" params={{ runId: numbered.data }} search={true} replace />;
  const query = number === null ? run : numbered;
  if (query.error && !query.data)
    return (
      <FailedPage
        title={t('jobs.run')}
        above={
          <AnchorLink to="/runs" size="xs">
            {t('jobs.title')}
          </AnchorLink>
        }
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    );
  if (!run.data)
    return (
      <Page>
        <Stack gap="md" aria-busy>
          <Skeleton height={28} width={320} />
          <Skeleton height={64} />
          <Skeleton height={360} />
        </Stack>
      </Page>
    );
  return <RunView key={runId} run={run.data} />;
}

function RunView({ run }: { run: Run }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runSearch>;
  const tracked = isTracked(run);
  const tabs: readonly Tab[] = tracked ? TRACKED_TABS : TABS;
  const first = tabs[0] as Tab;
  const tab: Tab = search.tab && tabs.includes(search.tab) ? search.tab : first;
  // Named even when it is the last one: a retry must not go on in the log of the attempt before it.
  const attempt = search.attempt ?? run.attempts.at(-1)?.number;
  // The address may name a rank that the attempt does not have.
  const ranks = run.attempts.find(({ number }) => number === attempt)?.ranks;
  const rank = ranks?.some(({ number }) => number === search.rank) ? (search.rank ?? 0) : 0;
  const isMerged = search.ranks === 'all' && (ranks?.length ?? 0) > 1;
  const wantsLog = tab === 'log' && !isMerged;
  const log = useLog(run.id, attempt, rank, wantsLog);
  const live = useRunLive({
    run,
    runId: run.id,
    attempt,
    rank,
    wantsLog,
    store: log.store,
    feed: log.feed,
  });
  const { feed } = log;
  useEffect(() => {
    if (live.paused) feed.pause();
    else feed.resume();
  }, [live.paused, feed]);
  const open = (next: string | null) =>
    void navigate({ to: '.', search: (old) => ({ ...old, tab: (next ?? first) as Tab }), replace: true });
  useShortcuts(
    tabs.map((name, index) => ({ keys: String(index + 1), label: t(`jobs.tab.${name}`), run: () => open(name) })),
  );
  const printing = usePrinting();
  const fallback = <Skeleton height={240} radius="md" />;
  return (
    <Page fill={!printing}>
      <ReportOrigin />
      {/* In its place while printing too: it is the button in it that ends that. */}
      <RunHeader run={run} live={live} />
      {printing && <RunReport run={run} />}
      {!printing && <Described run={run} />}
      {!printing && <RunKept run={run} />}
      {!printing && (isWaiting(run) || isInCluster(run)) && !tracked && <WhyPanel run={run} />}
      {!printing &&
        run.state === 'failed' &&
        !tracked &&
        (run.failure_reason ? <FailurePanel run={run} /> : <FailureComing />)}
      {!printing && run.state === 'succeeded' && PREDICTING.has(run.workflow ?? '') && (
        <AnchorLink to="/runs/$runId/predictions" params={{ runId: run.id }} search={{ wrong: 1 }} size="sm" mb="xs">
          {t('predictions.see')}
        </AnchorLink>
      )}
      <Tabs
        value={tab}
        onChange={open}
        keepMounted={false}
        className={classes.tabs}
        display={printing ? 'none' : undefined}
      >
        <Tabs.List>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`jobs.tab.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="log" className={classes.fill}>
          {isMerged ? (
            <MergedLog run={run} attempt={attempt} paused={live.paused} key={attempt ?? 'latest'} />
          ) : (
            <LogTab run={run} attempt={attempt} rank={rank} {...log} key={`${attempt ?? 'latest'}/${rank}`} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="curves" className={classes.scroll}>
          <Suspense fallback={fallback}>
            <CurvesTab run={run} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="system" className={classes.scroll}>
          <Suspense fallback={fallback}>
            <SystemTab run={run} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="files" className={classes.scroll}>
          <FilesTab run={run} active={isActive(run)} />
        </Tabs.Panel>
        {/* Nothing in it can have the focus, so the keyboard scrolls the panel itself. */}
        <Tabs.Panel value="events" className={classes.scroll} tabIndex={0}>
          <EventsTab run={run} />
        </Tabs.Panel>
        <Tabs.Panel value="config" className={classes.scroll}>
          <ConfigTab run={run} />
        </Tabs.Panel>
        <Tabs.Panel value="comments" className={classes.scroll}>
          <CommentsTab run={run} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
