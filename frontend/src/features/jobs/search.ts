import { flag, list, number, oneOf, type RawSearch, text } from '@/shared/domain/search';
import { readWithin } from './compare/axes';

const ORDERS = new Set(['name', 'created', 'number', 'duration', 'cpu_hours', 'gpu_hours']);

/** `param.lr` or `metric.loss`. */
export const isColumn = (name: string): boolean => /^(param|metric)\../.test(name);

function runSort(value: unknown): string | undefined {
  const name = typeof value === 'string' ? value.replace(/^-/, '') : '';
  return ORDERS.has(name) || isColumn(name) ? (value as string) : undefined;
}

export const runsSearch = (raw: RawSearch) => ({
  state: text(raw.state),
  q: text(raw.q),
  tag: text(raw.tag),
  created_by: text(raw.created_by),
  experiment: text(raw.experiment),
  workflow: text(raw.workflow),
  cluster: text(raw.cluster),
  sort: runSort(raw.sort),
  columns: list(raw.columns)?.filter(isColumn),
});

export const sharedRunSearch = (raw: RawSearch) => ({ attempt: number(raw.attempt) });

export const newRunSearch = (raw: RawSearch) => ({
  workflow: text(raw.workflow),
  step: number(raw.step),
  clone: text(raw.clone),
  dataset: text(raw.dataset),
  view: text(raw.view),
  model: text(raw.model),
});

export const runSearch = (raw: RawSearch) => ({
  tab: oneOf('log', 'curves', 'system', 'files', 'events', 'config', 'comments')(raw.tab),
  attempt: number(raw.attempt),
  /** The rank whose log is shown, of a run on several nodes; rank 0 if left out. */
  rank: number(raw.rank),
  /** The logs of all ranks as one. */
  ranks: oneOf('all')(raw.ranks),
  line: number(raw.line),
  q: text(raw.q),
  /** How `q` is meant; `errors` needs none. */
  find: oneOf('regex', 'errors')(raw.find),
  case: flag(raw.case),
  /** Where one is in the run's files, and which of them is open. */
  folder: text(raw.folder),
  file: text(raw.file),
  from: number(raw.from),
  to: number(raw.to),
  keys: list(raw.keys),
});

/** A label may look like a number: it is text all the same. */
const label = (value: unknown) => (value === undefined || value === null || value === '' ? undefined : String(value));

export const predictionsSearch = (raw: RawSearch) => ({
  true: label(raw.true),
  predicted: label(raw.predicted),
  /** `1`: mistakes only. */
  wrong: flag(raw.wrong) ? (1 as const) : undefined,
  order: oneOf('confidence')(raw.order),
  confidence_min: number(raw.confidence_min),
  confidence_max: number(raw.confidence_max),
});

export const compareSearch = (raw: RawSearch) => ({
  /** Numbers or ids, with commas: `12,15`. */
  runs: text(raw.runs),
  metric: text(raw.metric),
  value: oneOf('last', 'min', 'max')(raw.value),
  x: oneOf('step', 'time')(raw.x),
  smooth: number(raw.smooth),
  log: flag(raw.log),
  from: number(raw.from),
  to: number(raw.to),
  only: flag(raw.only),
  axes: list(raw.axes),
  within: readWithin(raw.within),
  /** The two runs whose code is compared. */
  code: list(raw.code),
});
