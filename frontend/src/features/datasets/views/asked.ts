import type { BrowseSearch } from '../browse/useBrowse';

export interface Asked {
  where: string;
  prefix: string;
}

/** A text as the query language writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A media type, a family of them (`image/`) or an ending (`.png`), as the server reads it. */
function kindCondition(type: string): string {
  const pattern = quoted(type.replaceAll(/[%_\\]/g, '\\$&')).slice(1, -1);
  if (type.startsWith('.')) return `name ILIKE '%${pattern}'`;
  return type.endsWith('/') ? `media_type LIKE '${pattern}%'` : `media_type = ${quoted(type)}`;
}

const inBrackets = (query: string, among: number): string => (among > 1 ? `(${query})` : query);

/**
 * The filters of the page as one query: the folder, and every filter as a condition. `viewQuery` is the applied view's.
 */
export function askedBy(search: BrowseSearch, viewQuery?: string): Asked {
  const { where, label, split, labelled, type, min, max, path } = search;
  const conditions = [
    viewQuery,
    where,
    label !== undefined && `label = ${quoted(label)}`,
    split !== undefined && `split = ${quoted(split)}`,
    labelled !== undefined && `label IS ${labelled ? 'NOT ' : ''}NULL`,
    type !== undefined && kindCondition(type),
    min !== undefined && `size >= ${min}`,
    max !== undefined && `size <= ${max}`,
  ].filter((one): one is string => Boolean(one));
  return {
    where: conditions.map((one) => inBrackets(one, conditions.length)).join(' AND '),
    prefix: path ?? '',
  };
}

/** Whether the page asks anything that could be saved. */
export const asksSomething = ({ where, prefix }: Asked): boolean => where !== '' || prefix !== '';
