import { type MetricValue, numberOf } from '@/shared/domain/metricValue';

/** Which of a run's metrics a list shows, best first. */
const WANTED = [
  /^test[/_].*acc/,
  /^(val|valid|validation)[/_].*acc/,
  /acc/,
  /(f1|map|auc|bleu)/,
  /^(val|test)[/_].*loss/,
  /loss/,
];

export function mainMetric(summary: Record<string, MetricValue>): { key: string; value: number } | null {
  const keys = Object.keys(summary).filter((key) => !key.startsWith('system/'));
  for (const pattern of WANTED) {
    const key = keys.find((one) => pattern.test(one.toLowerCase()));
    if (key !== undefined) return { key, value: numberOf(summary[key] as MetricValue) };
  }
  const first = keys[0];
  return first === undefined ? null : { key: first, value: numberOf(summary[first] as MetricValue) };
}
