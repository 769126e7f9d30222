import './words';
import { Alert, Badge, Code, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconLinkOff } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SharedRun } from '@/api/contract/jobs';
import { numberOf } from '@/shared/domain/metricValue';
import { useWords } from '@/shared/domain/runWords';
import { whenReachable } from '@/shared/live/connection';
import { CopyId } from '@/shared/ui/CopyId';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { Logo } from '@/shared/ui/Logo';
import { PageHeader } from '@/shared/ui/PageHeader';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { PrintReport } from '@/shared/ui/print/PrintReport';
import { usePrinting } from '@/shared/ui/print/printing';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { CurvesFrom, metricsOfSource } from '../curves/source';
import { RunTime } from '../RunTime';
import { Section, shown } from '../Section';
import { isActive, isWaiting } from '../states';
import { curvesOf, isGone, useSharedRun } from './queries';
import { SharedLog } from './SharedLog';
import classes from './sharing.module.css';

// uPlot stays out of the page's first chunk.
const Curves = lazy(whenReachable(async () => ({ default: (await import('../curves/Curves')).Curves })));

/**
 * A run, as whoever was given a link to it sees it: without the shell, without a session. The token stands behind the # of
 * the address, which browsers keep to themselves.
 */
export function SharedRunPage() {
  const token = useLocation({ select: ({ hash }) => hash });
  return (
    <main className={classes.page} tabIndex={-1}>
      {token === '' ? <Gone /> : <Linked key={token} token={token} />}
    </main>
  );
}

function Linked({ token }: { token: string }) {
  const query = useSharedRun(token);
  // Also when it was there a moment ago: what has ended is not shown any more.
  if (isGone(query.error)) return <Gone />;
  if (query.data) return <SharedRunView token={token} run={query.data} error={query.error} />;
  if (query.error) return <Empty error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <Stack gap="md" aria-busy>
      <Skeleton height={28} width={320} />
      <Skeleton height={120} />
      <Skeleton height={360} />
    </Stack>
  );
}

function Brand() {
  const { t } = useTranslation();
  return (
    <Text size="xs" c="dimmed" component="span" className={classes.brand}>
      <Logo size={16} />
      {t('sharing.page.shared')}
    </Text>
  );
}

function Empty({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useTranslation();
  return (
    <>
      <PageHeader title={t('sharing.page.shared')} />
      <ErrorState error={error} onRetry={onRetry} />
    </>
  );
}

function Gone() {
  const { t } = useTranslation();
  return (
    <>
      <PageHeader title={t('sharing.page.shared')} />
      <EmptyState icon={IconLinkOff} title={t('sharing.page.gone')} />
    </>
  );
}

interface SharedRunViewProps {
  token: string;
  run: SharedRun;
  /** Why it could not be read again. */
  error: unknown;
}

function SharedRunView({ token, run, error }: SharedRunViewProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const client = useQueryClient();
  const printing = usePrinting();
  const source = useMemo(() => curvesOf(token), [token]);
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const active = isActive(run);
  // The last points came with the end, after the last time that they were asked for.
  useEffect(() => {
    if (!active) void client.invalidateQueries({ queryKey: metricsOfSource(token) });
  }, [active, client, token]);
  return (
    <Stack gap="md">
      <Head run={run} />
      {error != null && <ErrorState compact error={error} retrying={active} />}
      {active && !isWaiting(run) && (
        <ProgressBar ratio={run.progress} label={t('sharing.page.progress', { name: run.name })} />
      )}
      {run.state === 'failed' && <Failure run={run} />}
      {run.notes && (
        <Section title={t('sharing.page.notes')}>
          <Text size="sm" className={classes.notes}>
            {run.notes}
          </Text>
        </Section>
      )}
      <Facts run={run} />
      <section aria-label={t('jobs.tab.curves')}>
        <Title order={2} fz="sm" mb="xs">
          {t('jobs.tab.curves')}
        </Title>
        <CurvesFrom value={source}>
          <Suspense fallback={<Skeleton height={240} radius="md" aria-busy />}>
            <Curves id={token} active={active} zoom={zoom} onZoom={setZoom} />
          </Suspense>
        </CurvesFrom>
      </section>
      {run.with_log && !printing && <SharedLog token={token} run={run} />}
      <Text size="xs" c="dimmed">
        {t('sharing.page.until', { at: format.dateTime(run.expires_at) })}
      </Text>
    </Stack>
  );
}

function Head({ run }: { run: SharedRun }) {
  const { t } = useTranslation();
  return (
    <PageHeader
      title={run.name}
      above={<Brand />}
      badges={<StateBadge state={run.state} />}
      subtitle={
        <span className={classes.subtitle}>
          {run.started_at && (
            <span>
              <RunTime run={run} />
            </span>
          )}
          {run.created_by && <span>{t('jobs.by', { name: run.created_by })}</span>}
          <RelativeTime at={run.created_at} />
        </span>
      }
    >
      <PrintReport />
    </PageHeader>
  );
}

/** The failure, as far as a link shows it: for some failures only the kind. */
function Failure({ run }: { run: SharedRun }) {
  const { t } = useTranslation();
  const words = useWords();
  const kind = run.failure_class && words.failureClass(run.failure_class);
  const said = words.failure(run);
  const why = t(`sharing.page.why.${run.failure_class}` as 'sharing.page.why.PREPARATION', { defaultValue: '' });
  return (
    <Alert
      variant="light"
      color="red"
      icon={<IconAlertTriangle size={18} />}
      title={
        <Group gap="xs" align="flex-start">
          <span className={classes.reason}>{said || kind || t('jobs.failedUnknown')}</span>
          {kind && said && <Badge color="red">{kind}</Badge>}
        </Group>
      }
    >
      {!said && why && `${why} ${t('sharing.page.whyMore')}`}
    </Alert>
  );
}

function Facts({ run }: { run: SharedRun }) {
  const { t } = useTranslation();
  const format = useFormat();
  const active = isActive(run);
  const metrics = Object.entries(run.metrics);
  const parameters = Object.entries(run.parameters);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }}>
      <Section title={t('sharing.page.result')}>
        {metrics.length === 0 && (
          <Text size="sm" c="dimmed">
            {t(active ? 'sharing.page.noResult' : 'sharing.page.nothingMeasured')}
          </Text>
        )}
        <KeyValueList items={metrics.map(([key, last]): [string, ReactNode] => [key, format.metric(numberOf(last))])} />
      </Section>
      <Section title={t('jobs.config.parameters')}>
        {parameters.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('common.none')}
          </Text>
        )}
        <KeyValueList
          items={parameters.map(([name, given]): [string, ReactNode] => [name, <Code key={name}>{shown(given)}</Code>])}
        />
      </Section>
      <Section title={t('sharing.page.about')}>
        <KeyValueList
          items={[
            [
              t('sharing.page.started'),
              run.started_at
                ? format.dateTime(run.started_at)
                : t(active ? 'sharing.page.notStarted' : 'sharing.page.neverStarted'),
            ],
            [t('sharing.page.ended'), run.finished_at && format.dateTime(run.finished_at)],
            [t('sharing.page.workflow'), run.workflow],
            [
              t('sharing.page.data'),
              run.datasets.length > 0 && run.datasets.map(({ dataset, version }) => `${dataset}@${version}`).join(', '),
            ],
            [t('sharing.page.commit'), run.commit && <CopyId key="commit" value={run.commit} chars={10} />],
          ]}
        />
      </Section>
    </SimpleGrid>
  );
}
