import { Badge, Group, Text, Tooltip } from '@mantine/core';
import { IconStarFilled } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { ListedRun, RunShort } from '@/api/contract/jobs';
import { useWords } from '@/shared/domain/runWords';
import type { Column } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import type { Format } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { hoursText } from '../hours';
import { inputLink, inputName } from '../inputName';
import { RunState } from '../RunState';
import { RunTime } from '../RunTime';
import { isActive, isTracked, isWaiting } from '../states';
import classes from './list.module.css';
import { mainMetric } from './mainMetric';

export const runName = (run: { name: string; number: number }): string => run.name || `#${run.number}`;

function NameCell({ run }: { run: RunShort }) {
  const { t } = useTranslation();
  return (
    <span className={classes.name}>
      <span className={classes.title}>
        <CutName name={runName(run)} />
      </span>
      <span className={classes.sub}>
        {run.starred && <IconStarFilled size={11} role="img" aria-label={t('runs.starred')} />}
        {run.name && <span className="tabular">#{run.number}</span>}
        {run.workflow && <span>{run.workflow}</span>}
        {isTracked(run) && (
          <Badge size="xs" color="indigo" variant="light">
            MLflow
          </Badge>
        )}
        {run.archived_at && (
          <Badge size="xs" color="orange" variant="light">
            {t('runs.isArchived')}
          </Badge>
        )}
        {run.experiment && <span>{run.experiment}</span>}
        {run.tags?.map((tag) => (
          <Badge key={tag} size="xs" color="gray">
            {tag}
          </Badge>
        ))}
      </span>
    </span>
  );
}

function DataCell({ run }: { run: RunShort }) {
  if (run.datasets.length === 0)
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    );
  return (
    <Group gap={6}>
      {run.datasets.map((input) => (
        <AnchorLink key={input.alias} {...inputLink(input)} fz="inherit" aria-label={inputName(input)}>
          <CutName name={input.dataset} tail={`@${input.ref}`} rest={input.view ? `?view=${input.view}` : ''} />
        </AnchorLink>
      ))}
    </Group>
  );
}

function ProgressCell({ run, label }: { run: RunShort; label: string }) {
  const words = useWords();
  const failure = run.state === 'failed' && words.failure(run);
  if (failure)
    return (
      <Tooltip label={failure} multiline maw={420}>
        <Text size="xs" c="var(--mantine-color-error)" lineClamp={3} className={classes.failure}>
          {failure}
        </Text>
      </Tooltip>
    );
  if (isWaiting(run) || (!run.progress && !run.progress_text))
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    );
  return (
    <div className={classes.progress}>
      <ProgressBar ratio={run.progress ?? 0} label={label} color={run.state === 'succeeded' ? 'teal' : undefined} />
      {run.progress_text && isActive(run) && (
        <Text size="xs" c="dimmed" truncate>
          {run.progress_text}
        </Text>
      )}
    </div>
  );
}

function MetricCell({ run, format }: { run: RunShort; format: Format }) {
  const metric = mainMetric(run.metrics_summary ?? {});
  if (!metric)
    return (
      <Text span inherit c="dimmed">
        –
      </Text>
    );
  const share = /acc/.test(metric.key.toLowerCase()) && metric.value <= 1;
  return (
    <div className={classes.metric}>
      <span className="tabular">{share ? format.percent(metric.value, 2) : format.metric(metric.value)}</span>
      <Text size="xs" c="dimmed" truncate>
        {metric.key}
      </Text>
    </div>
  );
}

/** The server sorts; this says that it can. */
const SORTED = () => null;

const cellOf = (value: unknown, format: Format): string => {
  if (value === undefined || value === null) return '–';
  if (typeof value === 'number') return format.metric(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** A parameter or a metric that the reader chose, `param.lr`. */
function chosenColumn(name: string, format: Format): Column<ListedRun> {
  return {
    key: name,
    header: name.slice(name.indexOf('.') + 1),
    cell: (run) => {
      const shown = cellOf(run.values[name], format);
      return (
        <Text span inherit className={`tabular ${classes.chosen}`} title={shown}>
          {shown}
        </Text>
      );
    },
    sortValue: SORTED,
    align: 'right',
  };
}

export function runColumns(t: TFunction, format: Format, chosen: string[]): Column<ListedRun>[] {
  return [
    { key: 'name', header: t('jobs.run'), cell: (run) => <NameCell run={run} />, sortValue: SORTED },
    {
      key: 'state',
      header: t('jobs.state'),
      cell: (run) => <RunState run={run} miw="max-content" />,
      width: 110,
    },
    {
      key: 'progress',
      header: t('jobs.progress'),
      cell: (run) => <ProgressCell run={run} label={t('jobs.progressOf', { name: runName(run) })} />,
      width: 200,
    },
    {
      key: 'metric',
      header: t('jobs.result'),
      cell: (run) => <MetricCell run={run} format={format} />,
      from: 'sm',
      width: 130,
    },
    ...chosen.map((name) => chosenColumn(name, format)),
    { key: 'data', header: t('jobs.data'), cell: (run) => <DataCell run={run} />, from: 'lg' },
    {
      key: 'cluster',
      header: t('runs.cluster'),
      cell: (run) =>
        run.cluster || !isTracked(run) ? (
          <span className={classes.nowrap}>
            {run.cluster ?? t('wizard.ownMachines')}
            {run.nodes > 1 && ` · ${run.nodes} × ${t('jobs.amount.cpus', { count: run.resources.cpus ?? 1 })}`}
          </span>
        ) : (
          <Text span inherit c="dimmed">
            –
          </Text>
        ),
      from: 'lg',
    },
    {
      key: 'where',
      header: t('jobs.where'),
      cell: (run) =>
        run.node ? (
          <span className={classes.nowrap}>{run.node}</span>
        ) : (
          <Text span inherit c="dimmed">
            –
          </Text>
        ),
      from: 'lg',
    },
    {
      key: 'who',
      header: t('jobs.who'),
      cell: (run) => (
        <span className={classes.nowrap}>{run.created_by?.full_name || run.created_by?.username || '–'}</span>
      ),
      from: 'lg',
    },
    {
      key: 'duration',
      header: t('jobs.duration'),
      cell: (run) => <RunTime run={run} />,
      sortValue: SORTED,
      align: 'right',
      from: 'sm',
      width: 90,
    },
    ...(['cpu_hours', 'gpu_hours'] as const).map(
      (key): Column<ListedRun> => ({
        key,
        header: t(key === 'cpu_hours' ? 'runs.cpuColumn' : 'runs.gpuColumn'),
        cell: (run) => (
          <span className="tabular" title={t('runs.costHint')}>
            {run[key] === null ? '–' : hoursText(format, run[key])}
          </span>
        ),
        sortValue: SORTED,
        align: 'right',
        from: 'lg',
        width: 80,
      }),
    ),
    {
      key: 'created',
      header: t('jobs.created'),
      cell: (run) => <RelativeTime at={run.created_at} />,
      sortValue: SORTED,
      align: 'right',
      from: 'sm',
      width: 130,
    },
  ];
}
