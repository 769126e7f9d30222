/** Which paths a dataset can hold, and their order: the rules of `atom_sdk.packs.paths`. No React. */
export type PathProblem =
  | 'path_empty'
  | 'path_absolute'
  | 'path_has_nul'
  | 'path_not_unicode'
  | 'path_traversal'
  | 'path_not_normalised'
  | 'path_too_long';

const MAX_PATH_BYTES = 4095;
const MAX_SEGMENT_BYTES = 255;

const encoder = new TextEncoder();
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** The fault of a path; null when a dataset can hold it. */
export function pathProblem(path: string): PathProblem | null {
  if (path === '') return 'path_empty';
  if (path.startsWith('/')) return 'path_absolute';
  if (path.includes('\0')) return 'path_has_nul';
  // Half of a character: what it stands for cannot be written as UTF-8.
  if (/\p{Surrogate}/u.test(path)) return 'path_not_unicode';
  const segments = path.split('/');
  if (segments.includes('..')) return 'path_traversal';
  if (segments.some((segment) => segment === '' || segment === '.')) return 'path_not_normalised';
  // A UTF-16 unit is three bytes at most: most paths need not be encoded.
  if (path.length * 3 <= MAX_SEGMENT_BYTES) return null;
  const isLong = (text: string, most: number) => utf8(text).length > most;
  if (isLong(path, MAX_PATH_BYTES) || segments.some((segment) => isLong(segment, MAX_SEGMENT_BYTES)))
    return 'path_too_long';
  return null;
}

/** Units of surrogate pairs come last in UTF-8, not before U+E000 as in UTF-16. */
const rank = (unit: number) => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);

/** Compares paths by their UTF-8 bytes, without encoding them. */
export function comparePaths(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one !== other) return rank(one) - rank(other);
  }
  return left.length - right.length;
}
