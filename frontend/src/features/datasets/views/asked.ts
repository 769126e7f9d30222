import type { BrowseSearch } from '../browse/useBrowse';

export interface Asked {
  where: string;
  prefix: string;
}

/** A text as the query language writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const inBrackets = (query: string, among: number): string => (among > 1 ? `(${query})` : query);

/** What the page shows as one question: the folder, and every filter as a condition. `viewQuery` is the applied view's. */
export function askedBy(search: BrowseSearch, viewQuery?: string): Asked {
  const { where, label, split, labelled, path } = search;
  const conditions = [
    viewQuery,
    where,
    label !== undefined && `label = ${quoted(label)}`,
    split !== undefined && `split = ${quoted(split)}`,
    labelled !== undefined && `label IS ${labelled ? 'NOT ' : ''}NULL`,
  ].filter((one): one is string => Boolean(one));
  return {
    where: conditions.map((one) => inBrackets(one, conditions.length)).join(' AND '),
    prefix: path ?? '',
  };
}

/** Whether the page asks anything that could be saved. */
export const asksSomething = ({ where, prefix }: Asked): boolean => where !== '' || prefix !== '';
