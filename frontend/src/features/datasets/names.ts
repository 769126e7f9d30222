import type { Version } from '@/api/contract/datasets';
import type { Person } from '@/api/contract/shapes';

export function personName(person: Person | null | undefined): string {
  return person ? person.full_name || person.username : '';
}

/** The author of a version: a person of this installation, or the name from where it was loaded. */
export const authorName = (version: Pick<Version, 'author' | 'author_name'>): string =>
  personName(version.author) || version.author_name;

/** The last part of a path: what a cell has room for. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** `train/cats/1.png` → `train/cats/`; the root is the empty prefix. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** Every folder on the way to `prefix`: `a/b/` → `['a/', 'a/b/']`. */
export function ancestors(prefix: string): string[] {
  const parts = prefix.split('/').filter(Boolean);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`);
}

export const pullCommand = (name: string, ref: string): string => `atom data pull ${name}@${ref} ./${name}`;

export const isMain = (version: Pick<Version, 'number'>): boolean => version.number !== null;
