/** Which of a run's metrics a list shows, best first. */
const WANTED = [
  /^test[/_].*acc/,
  /^(val|valid|validation)[/_].*acc/,
  /acc/,
  /(f1|map|auc|bleu)/,
  /^(val|test)[/_].*loss/,
  /loss/,
];

export function mainMetric(summary: Record<string, number>): { key: string; value: number } | null {
  const keys = Object.keys(summary).filter((key) => !key.startsWith('system/'));
  for (const pattern of WANTED) {
    const key = keys.find((one) => pattern.test(one.toLowerCase()));
    if (key !== undefined) return { key, value: summary[key] as number };
  }
  const first = keys[0];
  return first === undefined ? null : { key: first, value: summary[first] as number };
}
