import type { ComparedRun } from '@/api/contract/jobs';
import { numberOf } from '@/shared/domain/metricValue';

/** The values that a filter lets through: a range of numbers, or some of the values. */
export type Within = Record<string, [from: number, to: number] | string[]>;
export type AxisValue = number | string | null;
export type MetricValue = 'last' | 'min' | 'max';

export interface Axis {
  name: string;
  isMetric: boolean;
  /** One value per run, null where it has none. */
  values: AxisValue[];
  /** An axis of numbers; positions are logarithmic where the values span two powers of ten. */
  range?: [min: number, max: number];
  isLog: boolean;
  /** An axis of anything else, in order. */
  categories?: string[];
}

export const shownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** NaN and infinity too. */
export const metricOf = (run: ComparedRun, key: string, value: MetricValue): number | null => {
  const found = run.metrics.find((one) => one.key === key)?.[value] ?? null;
  return found === null ? null : numberOf(found);
};

/** Names of parameters in the order in which runs bring them; of those that differ, what most runs have comes first. */
export function parameterNames(runs: readonly ComparedRun[]): { all: string[]; differing: string[] } {
  const all = [...new Set(runs.flatMap((run) => Object.keys(run.parameters)))];
  const differs = (name: string) => new Set(runs.map((run) => shownValue(run.parameters[name]))).size > 1;
  const having = (name: string) => runs.filter((run) => run.parameters[name] !== undefined).length;
  return { all, differing: all.filter(differs).sort((a, b) => having(b) - having(a)) };
}

function asNumber(value: unknown): AxisValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return value;
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(parsed) ? parsed : shownValue(value);
}

function axis(name: string, isMetric: boolean, raw: AxisValue[]): Axis {
  const present = raw.filter((value) => value !== null);
  if (present.length > 0 && present.every((value) => typeof value === 'number')) {
    const [min, max] = [Math.min(...present), Math.max(...present)];
    return { name, isMetric, values: raw, range: [min, max], isLog: min > 0 && max / min >= 100 };
  }
  const values = raw.map((value) => (value === null ? null : String(value)));
  const known = [...new Set(values.filter((value) => value !== null))];
  const categories = known.sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  return { name, isMetric, values, categories, isLog: false };
}

/** An axis per parameter, and the metric as the last one. */
export function axesOf(
  runs: readonly ComparedRun[],
  names: readonly string[],
  metric: string | undefined,
  value: MetricValue,
): Axis[] {
  const parameters = names.map((name) =>
    axis(
      name,
      false,
      runs.map((run) => asNumber(run.parameters[name])),
    ),
  );
  if (metric === undefined) return parameters;
  // NaN and infinity have no place on an axis.
  const measured = runs.map((run) => metricOf(run, metric, value)).map((one) => (Number.isFinite(one) ? one : null));
  return [...parameters, axis(metric, true, measured)];
}

/** Where a value lies on its axis, 0 at the bottom to 1 at the top; null for no value. */
export function position({ range, isLog, categories }: Axis, value: AxisValue): number | null {
  if (value === null) return null;
  if (categories) return categories.length < 2 ? 0.5 : categories.indexOf(String(value)) / (categories.length - 1);
  const [min, max] = range as [number, number];
  const at = Number(value);
  if (max === min) return 0.5;
  return isLog ? Math.log(at / min) / Math.log(max / min) : (at - min) / (max - min);
}

/** The filter of a stretch of an axis; undefined where it takes in nothing. */
export function stretch(axis: Axis, low: number, high: number): Within[string] | undefined {
  const { range, isLog, categories } = axis;
  if (categories) {
    const inside = categories.filter((one) => {
      const at = position(axis, one) as number;
      return at >= low && at <= high;
    });
    return inside.length > 0 ? inside : undefined;
  }
  const [min, max] = range as [number, number];
  const at = (share: number) => (isLog ? min * (max / min) ** share : min + (max - min) * share);
  const rounded = (value: number) => Number(value.toPrecision(4));
  return [rounded(at(Math.max(0, low))), rounded(at(Math.min(1, high)))];
}

const isRange = (filter: Within[string]): filter is [number, number] => typeof filter[0] === 'number';

function lets(filter: Within[string], value: AxisValue): boolean {
  if (value === null) return false;
  if (!isRange(filter)) return filter.includes(String(value));
  // The ends are rounded to four digits: a run at the very end stays in.
  const slack = Math.abs(Number(value)) * 1e-3;
  return Number(value) >= filter[0] - slack && Number(value) <= filter[1] + slack;
}

/** Which of the runs pass every filter, by their place. */
export function passing(axes: readonly Axis[], within: Within, count: number): boolean[] {
  const used = axes.filter((one) => within[one.name]);
  return Array.from({ length: count }, (_, i) =>
    used.every((one) => lets(within[one.name] as Within[string], one.values[i] ?? null)),
  );
}

/** The filters of a URL; anything else than ranges and lists of words is left out. */
export function readWithin(raw: unknown): Within | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const kept = Object.entries(raw).filter(([, filter]) => {
    if (!Array.isArray(filter) || filter.length === 0) return false;
    const isNumbers = filter.length === 2 && filter.every((one) => typeof one === 'number' && Number.isFinite(one));
    return isNumbers || filter.every((one) => typeof one === 'string');
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
