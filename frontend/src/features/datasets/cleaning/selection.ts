/** Which findings are selected, by path; no React. The list is what the gallery shows, in its order. */
export interface Selection {
  readonly paths: ReadonlySet<string>;
  /** Where the last click was: Shift selects from there. */
  readonly anchor: number | null;
}

export const NONE: Selection = { paths: new Set(), anchor: null };

/** Selects one, or takes it back. */
export function toggled(selection: Selection, list: readonly string[], index: number): Selection {
  const path = list[index];
  if (path === undefined) return selection;
  const paths = new Set(selection.paths);
  if (!paths.delete(path)) paths.add(path);
  return { paths, anchor: index };
}

/** Adds everything between the last click and this one, but what stays in its group. */
export function extended(
  selection: Selection,
  list: readonly string[],
  index: number,
  stays: ReadonlySet<number>,
): Selection {
  const [from, to] = [selection.anchor ?? index, index].sort((a, b) => a - b) as [number, number];
  const reached = list.slice(from, to + 1).filter((_, offset) => !stays.has(from + offset));
  return { paths: new Set([...selection.paths, ...reached]), anchor: index };
}

/** Adds many at once. */
export const withAll = (selection: Selection, paths: readonly string[]): Selection => ({
  paths: new Set([...selection.paths, ...paths]),
  anchor: null,
});

export interface Run<T> {
  group: number;
  /** Position of the first in the list. */
  start: number;
  items: T[];
}

/** Findings of one group follow each other; those without a group (-1) are one run. */
export function runsOf<T extends { group: number }>(rows: readonly T[]): Run<T>[] {
  const runs: Run<T>[] = [];
  for (const [index, row] of rows.entries()) {
    const last = runs.at(-1);
    if (last?.group === row.group) last.items.push(row);
    else runs.push({ group: row.group, start: index, items: [row] });
  }
  return runs;
}
