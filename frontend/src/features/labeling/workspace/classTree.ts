import type { Label } from '@/api/contract/labeling';

/** A class in the order of the tree. */
export interface ClassRow {
  label: Label;
  depth: number;
  /** Names from the top to this class. */
  path: readonly string[];
  /** Ids of the classes above. */
  above: readonly number[];
  hasChildren: boolean;
}

/** The classes with each one's children behind it; a class whose parent is not there stands at the top. */
export function classRows(labels: readonly Label[]): ClassRow[] {
  const ids = new Set(labels.map(({ id }) => id));
  const children = new Map<number | null, Label[]>();
  for (const label of labels) {
    const parent = label.parent !== null && ids.has(label.parent) ? label.parent : null;
    children.set(parent, [...(children.get(parent) ?? []), label]);
  }
  const below = (parent: number | null, above: readonly number[], path: readonly string[]): ClassRow[] =>
    (children.get(parent) ?? []).flatMap((label) => {
      const own = [...path, label.name];
      const row = { label, depth: above.length, path: own, above, hasChildren: children.has(label.id) };
      return [row, ...below(label.id, [...above, label.id], own)];
    });
  return below(null, [], []);
}

/** The rows whose path has all words, those whose own name has them first. */
export function matchingRows(rows: readonly ClassRow[], text: string): ClassRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (name: string) => words.every((word) => name.toLowerCase().includes(word));
  const byPath = rows.filter(({ path }) => has(path.join(' ')));
  return [...byPath.filter(({ label }) => has(label.name)), ...byPath.filter(({ label }) => !has(label.name))];
}

/** The rows that no closed class hides. */
export const openRows = (rows: readonly ClassRow[], closed: ReadonlySet<number>): ClassRow[] =>
  rows.filter(({ above }) => !above.some((id) => closed.has(id)));

/** Images of a class; of a closed one, those of the classes below it too. */
export function countOf(
  row: ClassRow,
  rows: readonly ClassRow[],
  counts: ReadonlyMap<number, number>,
  closed: ReadonlySet<number>,
): number {
  const own = counts.get(row.label.id) ?? 0;
  if (!closed.has(row.label.id)) return own;
  const below = rows.filter(({ above }) => above.includes(row.label.id));
  return below.reduce((sum, { label }) => sum + (counts.get(label.id) ?? 0), own);
}
