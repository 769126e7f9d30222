import type { TFunction } from 'i18next';
import type { ComparedRun, Comparison } from '@/api/contract/jobs';
import type { Format } from '@/shared/ui/format';
import { inputName } from '../inputName';
import { joinWords } from '../wizard/shellWords';
import { type MetricValue, metricOf, parameterNames, shownValue } from './axes';

export interface Row {
  id: string;
  label: string;
  /** One per run; null where it has none. */
  cells: (string | null)[];
  differs: boolean;
  /** Places of the runs that are best. */
  best?: Set<number>;
  goal?: 'max' | 'min' | null;
}

export interface Section {
  id: 'run' | 'metrics' | 'parameters' | 'code' | 'data' | 'resources' | 'environment';
  rows: Row[];
}

const row = (id: string, label: string, cells: (string | null | undefined)[], extra: Partial<Row> = {}): Row => {
  const known = cells.map((cell) => cell ?? null);
  return { id, label, cells: known, differs: new Set(known).size > 1, ...extra };
};

/** `torch` of `torch==2.13.0`, `Torch [cpu] >= 2` and `torch @ https://…`; a line that is an option names itself. */
const packageOf = (line: string): string =>
  line.startsWith('-') ? line : ((/^[A-Za-z0-9._-]+/.exec(line)?.[0] ?? line).toLowerCase() as string);

/** The lines of a requirements text by package. */
export function requirementsOf(text: string): Map<string, string> {
  const lines = text.split('\n').map((line) => line.replace(/(^|\s)#.*$/, '').trim());
  const found = new Map<string, string>();
  for (const line of lines.filter(Boolean)) {
    const name = packageOf(line);
    found.set(name, found.has(name) ? `${found.get(name)}\n${line}` : line);
  }
  return found;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value ? value : null);

function codeRows(runs: ComparedRun[], t: TFunction): Row[] {
  const git = (name: string) => runs.map((run) => textOf(run.code?.git?.[name]));
  const dirty = runs.map((run) =>
    typeof run.code?.git?.dirty === 'boolean' ? t(run.code.git.dirty ? 'compare.yes' : 'compare.no') : null,
  );
  return [
    row(
      'workflow',
      t('compare.workflow'),
      runs.map((run) => run.workflow && `${run.workflow} ${run.workflow_version ?? ''}`.trim()),
    ),
    row(
      'command',
      t('jobs.config.command'),
      runs.map((run) => joinWords(run.command)),
    ),
    row('commit', t('compare.commit'), git('commit')),
    row('branch', t('compare.branch'), git('branch')),
    row('dirty', t('compare.dirty'), dirty),
    row(
      'digest',
      t('compare.codeDigest'),
      runs.map((run) => run.code?.digest?.slice(0, 12)),
    ),
  ];
}

function dataRows(runs: ComparedRun[]): Row[] {
  const aliases = [...new Set(runs.flatMap((run) => run.datasets.map(({ alias }) => alias)))];
  return aliases.map((alias) =>
    row(
      alias,
      alias,
      runs.map((run) => {
        const input = run.datasets.find((one) => one.alias === alias);
        return input && [inputName(input), input.selector.where, input.delivery].filter(Boolean).join('\n');
      }),
    ),
  );
}

function resourceRows(runs: ComparedRun[], t: TFunction, format: Format): Row[] {
  return [
    row(
      'cpus',
      t('jobs.cpus'),
      runs.map((run) => format.number(run.resources.cpus)),
    ),
    row(
      'memory',
      t('jobs.memory'),
      runs.map((run) => format.bytes(run.resources.memory_bytes)),
    ),
    row(
      'gpus',
      t('jobs.gpus'),
      runs.map(({ accelerator, resources: { gpus } }) =>
        accelerator ? `${gpus} × ${accelerator}` : format.number(gpus),
      ),
    ),
    row(
      'timeout',
      t('jobs.timeout'),
      runs.map((run) => (run.timeout_s ? format.duration(run.timeout_s) : null)),
    ),
    row(
      'retries',
      t('jobs.maxRetries'),
      runs.map((run) => format.number(run.max_retries ?? 0)),
    ),
    row(
      'node',
      t('jobs.where'),
      runs.map((run) => run.node),
    ),
  ];
}

function environmentRows(runs: ComparedRun[], t: TFunction): Row[] {
  const required = runs.map((run) => requirementsOf(run.runtime?.requirements ?? ''));
  const packages = [...new Set(required.flatMap((one) => [...one.keys()]))].sort();
  const variables = runs.map((run) => run.env.join('\n') || null);
  return [
    row(
      'python',
      'Python',
      runs.map((run) => run.runtime?.python),
    ),
    ...packages.map((name) =>
      row(
        `package ${name}`,
        name,
        required.map((one) => one.get(name)),
      ),
    ),
    row('variables', t('compare.variables'), variables),
  ];
}

function runRows(runs: ComparedRun[], t: TFunction, format: Format): Row[] {
  return [
    row(
      'state',
      t('jobs.state'),
      runs.map((run) => t(`states.${run.state}` as 'states.running', { defaultValue: run.state })),
    ),
    row(
      'duration',
      t('jobs.duration'),
      runs.map((run) => (run.duration_s === null ? null : format.duration(run.duration_s))),
    ),
    row(
      'who',
      t('jobs.who'),
      runs.map((run) => run.created_by?.full_name || run.created_by?.username),
    ),
    row(
      'created',
      t('jobs.created'),
      runs.map((run) => format.dateTime(run.created_at)),
    ),
    row(
      'tags',
      t('compare.tags'),
      runs.map((run) => run.tags.join(', ') || null),
    ),
  ];
}

/** Everything that may differ between runs, section by section; empty rows are left out. */
export function sectionsOf({ runs, metrics }: Comparison, value: MetricValue, t: TFunction, format: Format): Section[] {
  const metricRows = metrics.map(({ key, goal, best }) => {
    const winners = new Set(runs.flatMap((run, i) => (best.includes(run.id) ? [i] : [])));
    const numbers = runs.map((run) => metricOf(run, key, value));
    const cells = numbers.map((number, i) => {
      if (number !== null) return format.metric(number);
      // Its smallest and largest are those of finite values.
      return runs[i]?.metrics.some((one) => one.key === key) ? t('compare.noneFinite') : null;
    });
    const differs = new Set(numbers.map((number, i) => number ?? cells[i])).size > 1;
    return { ...row(key, key, cells, { best: winners, goal }), differs };
  });
  const parameterRows = parameterNames(runs).all.map((name) =>
    row(
      name,
      name,
      runs.map((run) => (run.parameters[name] === undefined ? null : shownValue(run.parameters[name]))),
    ),
  );
  const sections: Section[] = [
    { id: 'run', rows: runRows(runs, t, format) },
    { id: 'metrics', rows: metricRows },
    { id: 'parameters', rows: parameterRows },
    { id: 'code', rows: codeRows(runs, t) },
    { id: 'data', rows: dataRows(runs) },
    { id: 'resources', rows: resourceRows(runs, t, format) },
    { id: 'environment', rows: environmentRows(runs, t) },
  ];
  const hasAny = (one: Row) => one.cells.some((cell) => cell !== null);
  return sections
    .map((section) => ({ ...section, rows: section.rows.filter(hasAny) }))
    .filter(({ rows }) => rows.length > 0);
}
