import { quoted } from '../views/asked';

/** Conditions on annotations that the filter offers beside the classes. */
export const ANNOTATED = 'objects.count >= 0';
export const EMPTY = 'objects.count = 0';
export const MISSING = 'objects.count IS NULL';

export const classQuery = (label: string): string => `objects.label = ${quoted(label)}`;

const isOfFilter = (query: string): boolean =>
  [ANNOTATED, EMPTY, MISSING].includes(query) || /^objects\.label = '(?:[^']|'')*'$/.test(query);

/** The query with another condition of the filter: one that a person wrote stays beside it. */
export function withCondition(where: string | undefined, condition: string): string {
  if (where === undefined || isOfFilter(where)) return condition;
  return `(${where}) AND (${condition})`;
}
