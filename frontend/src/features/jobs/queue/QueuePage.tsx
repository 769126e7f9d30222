import { List, Stack, Text, Title } from '@mantine/core';
import { IconClock, IconListNumbers, IconServer } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import type { Queue, RunShort } from '@/api/contract/jobs';
import { useProject } from '@/shared/domain/project';
import { useWords } from '@/shared/domain/runWords';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { usePollMs } from '@/shared/live/projectLive';
import { EmptyState } from '@/shared/ui/EmptyState';
import { type Format, useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Elapsed } from '@/shared/ui/values';
import { runName } from '../list/columns';
import { RunState } from '../RunState';
import { useAnswer } from '../useAnswer';

type WaitingRun = Queue['waiting'][number];
type Amounts = Pick<Queue['held'], 'cpus' | 'memory_bytes' | 'gpus'>;

const POLL_MS = 3000;

function useQueue() {
  const project = useProject();
  const every = usePollMs();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/queue/',
    { params: { path: { project } } },
    // Runs of other projects move it too, and this project's socket says nothing of them.
    { refetchInterval: ({ state }) => (state.data?.waiting.length ? POLL_MS : Math.min(every(POLL_MS), 15_000)) },
  );
}

/** The queue: waiting runs, their order and reasons, and the runs that hold a machine. */
export function QueuePage() {
  const { t } = useTranslation();
  const format = useFormat();
  const words = useWords();
  const { data, error, refetch } = useQueue();
  const waiting = useMemo(() => waitingColumns(t, format, words), [t, format, words]);
  const holding = useMemo(() => holdingColumns(t, format), [t, format]);
  const asked = { error: data ? undefined : error, refetch: () => void refetch() };
  return (
    <Page>
      <PageHeader
        title={t('runs.queue.title')}
        subtitle={t('runs.queue.subtitle')}
        above={
          <AnchorLink to="/runs" size="xs">
            {t('jobs.title')}
          </AnchorLink>
        }
      />
      <Stack gap="xl">
        <section aria-labelledby="queue-waiting">
          <Title order={2} fz="md" id="queue-waiting" mb={4}>
            {t('runs.queue.waiting')}
          </Title>
          <Text size="sm" c="dimmed" mb="xs">
            {t('runs.queue.order')}
          </Text>
          <DataTable
            label={t('runs.queue.waiting')}
            columns={waiting}
            rows={data?.waiting}
            {...asked}
            rowKey={({ run }) => run.id}
            rowName={({ run }) => runName(run)}
            rowLink={({ run }) => ({ to: '/runs/$runId', params: { runId: run.id } })}
            empty={<EmptyState compact icon={IconListNumbers} title={t('runs.queue.nothingWaits')} />}
          />
          {data && <Elsewhere queue={data} />}
        </section>
        {data && (
          <section aria-labelledby="queue-holding">
            <Title order={2} fz="md" id="queue-holding" mb={4}>
              {t('runs.queue.running')}
            </Title>
            <Text size="sm" c="dimmed" mb="xs">
              {t('runs.queue.heldHere', { held: amountsOf(t, format, data.held) })}
              {data.held_elsewhere.runs > 0 &&
                ` · ${t('runs.queue.heldElsewhere', {
                  held: amountsOf(t, format, data.held_elsewhere),
                  runs: format.number(data.held_elsewhere.runs),
                })}`}
            </Text>
            <DataTable
              label={t('runs.queue.running')}
              columns={holding}
              rows={data.holding}
              rowKey={(run) => run.id}
              rowName={runName}
              rowLink={(run) => ({ to: '/runs/$runId', params: { runId: run.id } })}
              empty={<EmptyState compact icon={IconServer} title={t('runs.queue.nothingRuns')} />}
            />
          </section>
        )}
      </Stack>
    </Page>
  );
}

function Elsewhere({ queue }: { queue: Queue }) {
  const { t } = useTranslation();
  const { waiting, waiting_count: count, waiting_elsewhere: elsewhere } = queue;
  return (
    <>
      {count > waiting.length && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('runs.queue.more', { shown: waiting.length, count })}
        </Text>
      )}
      {elsewhere > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('runs.queue.elsewhere', { count: elsewhere })}
        </Text>
      )}
    </>
  );
}

const amountsOf = (t: TFunction, format: Format, held: Amounts): string =>
  t('runs.queue.held', {
    cpus: t('jobs.amount.cpus', { count: held.cpus }),
    memory: format.bytes(held.memory_bytes),
    gpus: t('jobs.amount.gpus', { count: held.gpus }),
  });

function Name({ run }: { run: RunShort }) {
  return (
    <span style={{ overflowWrap: 'anywhere' }}>
      <b>{runName(run)}</b>
      {run.name && (
        <Text span size="xs" c="dimmed" className="tabular">
          {' '}
          #{run.number}
        </Text>
      )}
    </span>
  );
}

const personOf = (run: RunShort): string => run.created_by?.full_name || run.created_by?.username || '–';

function amountsColumn<T>(t: TFunction, format: Format, header: string, runOf: (row: T) => RunShort): Column<T> {
  return {
    key: 'amounts',
    header,
    cell: (row) => {
      const { accelerator, resources, nodes } = runOf(row);
      const { cpus = 0, memory_bytes = 0, gpus = 0 } = resources;
      const each = `${amountsOf(t, format, { cpus, memory_bytes, gpus })} ${accelerator ?? ''}`.trim();
      return nodes > 1 ? t('runs.queue.onNodes', { nodes, each }) : each;
    },
    from: 'md',
  };
}

function Reasons({ row, words }: { row: WaitingRun; words: ReturnType<typeof useWords> }) {
  const { t } = useTranslation();
  const answerOf = useAnswer();
  return (
    <>
      <Text size="sm">{answerOf(row.explanation)}</Text>
      <List size="xs" spacing={1} icon={<IconClock size={12} aria-hidden />} c="dimmed">
        {row.explanation.reasons.map((reason) => (
          <List.Item key={reason.kind}>{words.reason(reason)}</List.Item>
        ))}
        {row.ahead_elsewhere > 0 && <List.Item>{t('runs.queue.ahead', { count: row.ahead_elsewhere })}</List.Item>}
      </List>
    </>
  );
}

function waitingColumns(t: TFunction, format: Format, words: ReturnType<typeof useWords>): Column<WaitingRun>[] {
  return [
    { key: 'name', header: t('jobs.run'), cell: ({ run }) => <Name run={run} /> },
    {
      key: 'position',
      header: t('runs.queue.position'),
      cell: ({ position }) => (
        <span className="tabular">{position === null ? t('runs.queue.between') : format.number(position)}</span>
      ),
      width: 70,
    },
    { key: 'why', header: t('runs.queue.why'), cell: (row) => <Reasons row={row} words={words} /> },
    amountsColumn(t, format, t('runs.queue.asks'), ({ run }) => run),
    { key: 'who', header: t('jobs.who'), cell: ({ run }) => personOf(run), from: 'lg' },
    {
      key: 'asked',
      header: t('runs.queue.asked'),
      cell: ({ run }) => <RelativeTime at={run.created_at} />,
      from: 'sm',
      align: 'right',
    },
  ];
}

function holdingColumns(t: TFunction, format: Format): Column<RunShort>[] {
  return [
    { key: 'name', header: t('jobs.run'), cell: (run) => <Name run={run} /> },
    { key: 'state', header: t('jobs.state'), cell: (run) => <RunState run={run} miw="max-content" /> },
    {
      key: 'progress',
      header: t('jobs.progress'),
      cell: (run) => <ProgressBar ratio={run.progress ?? 0} label={t('jobs.progressOf', { name: runName(run) })} />,
      from: 'sm',
      width: 160,
    },
    amountsColumn<RunShort>(t, format, t('runs.queue.holds'), (run) => run),
    { key: 'where', header: t('jobs.where'), cell: (run) => run.node ?? '–', from: 'sm' },
    { key: 'who', header: t('jobs.who'), cell: personOf, from: 'lg' },
    {
      key: 'since',
      header: t('runs.queue.since'),
      cell: (run) => (run.started_at ? <Elapsed from={run.started_at} /> : '–'),
      align: 'right',
    },
  ];
}
