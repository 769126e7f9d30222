/** Readers for search parameters: whatever a person typed into the URL, a page gets a value of the right type or none. */
export type RawSearch = Record<string, unknown>;

/** Lets links leave out what a reader may not find: `{tab: T | undefined}` becomes `{tab?: T}`. */
export const optional =
  <T extends object>(read: (raw: RawSearch) => T) =>
  (raw: RawSearch): Partial<T> =>
    read(raw);

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

export function number(value: unknown): number | undefined {
  const parsed =
    typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(parsed) ? parsed : undefined;
}

const FLAGS = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [1, true],
  ['1', true],
  [false, false],
  ['false', false],
  [0, false],
  ['0', false],
]);

/** `true`, or `1` as people write it. */
export const flag = (value: unknown): boolean | undefined => FLAGS.get(value);

export const oneOf =
  <const T extends string>(...choices: T[]) =>
  (value: unknown): T | undefined =>
    choices.includes(value as T) ? (value as T) : undefined;

/** `key` or `-key` of a column that can be sorted by; anything else is no order. */
export const sortOf =
  (...keys: string[]) =>
  (value: unknown): string | undefined =>
    typeof value === 'string' && keys.includes(value.replace(/^-/, '')) ? value : undefined;

/** A comma-separated list; empty lists are left out of the URL. */
export function list(value: unknown): string[] | undefined {
  const parts = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : [];
  const kept = parts.filter((part) => part !== '');
  return kept.length > 0 ? kept : undefined;
}
