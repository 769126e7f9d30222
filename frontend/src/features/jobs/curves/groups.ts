/** The key of rank 0 for a curve of another rank: `loss` for `rank-3/loss`. */
export const withoutRank = (key: string): string => key.replace(/^(system\/)?rank-\d+\//, '$1');

export interface CurveGroup {
  /** The common part of the keys: `loss` for `train/loss` and `val/loss`. */
  name: string;
  keys: string[];
}

/**
 * One chart per measured thing. Keys that end alike (`train/loss`, `val/loss`) share a chart; `val_loss` counts as
 * `val/loss`, and `rank-1/loss` is another rank's `loss`. Groups come in the order of their first key.
 */
export function groupCurves(keys: readonly string[]): CurveGroup[] {
  const groups = new Map<string, string[]>();
  for (const key of keys) {
    const name = withoutRank(key).replace(/^(train|val|valid|validation|test|eval)[/_]/, '');
    const group = groups.get(name);
    if (group) group.push(key);
    else groups.set(name, [key]);
  }
  return [...groups].map(([name, members]) => ({ name, keys: members }));
}
