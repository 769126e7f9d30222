import type { CacheSettings, CacheSettingsRequest } from '@/api/schema';

const GIB = 2 ** 30;
const MAX_GIB = 2 ** 20;
const SIZE = /^\d{1,7}(?:\.\d{1,3})?$/;
const MINUTES = /^\d{1,4}(?:\.\d{1,2})?$/;

export interface CacheFormValues {
  /** GiB of each node; empty: as large as its disk allows. */
  limit: string;
  /** Minutes of silence after which another node takes a node's part. */
  replace: string;
}

/** The form's names of the fields that the server calls otherwise. */
export const FIELD_NAMES = { limit_bytes: 'limit', replace_after_s: 'replace' };

const textOf = (value: number) => String(Math.round(value * 1000) / 1000);

export const formOf = ({ limit_bytes: limit, replace_after_s: replace }: CacheSettings): CacheFormValues => ({
  limit: limit === null ? '' : textOf(limit / GIB),
  replace: textOf(replace / 60),
});

export function isLimit(text: string): boolean {
  const limit = Number(text.trim());
  return text.trim() === '' || (SIZE.test(text.trim()) && limit > 0 && limit <= MAX_GIB);
}

export function isReplace(text: string): boolean {
  const minutes = Number(text.trim());
  return MINUTES.test(text.trim()) && minutes >= 1 && minutes <= 1440;
}

/** The limit that a form names, in bytes; null for none. */
export const limitOf = ({ limit }: CacheFormValues): number | null =>
  limit.trim() ? Math.round(Number(limit) * GIB) : null;

/** The request of a form whose values are right. A field that was not changed sends the value that it was made of. */
export function requestOf(form: CacheFormValues, before: CacheSettings): CacheSettingsRequest {
  const shown = formOf(before);
  return {
    limit_bytes: form.limit === shown.limit ? before.limit_bytes : limitOf(form),
    replace_after_s: form.replace === shown.replace ? before.replace_after_s : Math.round(Number(form.replace) * 60),
  };
}
