/**
 * Recognises pictures that lie in one folder per class, perhaps below one folder per split. The rules are those of
 * `sdk/atom_sdk/manifests/layers/class_folders.py`; the tests of both read the same cases.
 */

const SPLITS: Record<string, Split> = {
  train: 'train',
  training: 'train',
  val: 'val',
  valid: 'val',
  validation: 'val',
  test: 'test',
  testing: 'test',
};
/** Folders that tell what kind of file they hold, not what a picture shows. */
const KINDS_OF_FILES = new Set(
  'images image imgs img pictures photos data raw files labels annotations masks jpegimages unlabelled unlabeled'.split(
    ' ',
  ),
);
const PICTURE = /\.(?:jpe?g|jpe|jfif|png|gif|webp|avif|bmp|tiff?|ico|ppm|pgm|pbm|pnm|svg|heic|heif)$/i;
const MIN_CLASSES = 2;
/** A folder for each picture is no class. */
const MIN_PICTURES_PER_CLASS = 2;

export type Split = 'train' | 'val' | 'test';

export interface FolderShape {
  /** Names of the folders right above pictures; empty where these are no classes. */
  classes: string[];
  /** Each folder that names a split, with its slash: `photos/train/`. */
  splits: [prefix: string, split: Split][];
}

const isPicture = (path: string): boolean =>
  PICTURE.test(path) && !path.split('/').some((part) => part.startsWith('.') || part.startsWith('__MACOSX'));

const splitNamed = (folder: string | undefined): Split | undefined => {
  const name = folder?.toLowerCase() ?? '';
  return Object.hasOwn(SPLITS, name) ? SPLITS[name] : undefined;
};

/** How many pictures lie in each folder. */
function foldersOf(paths: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (!isPicture(path)) continue;
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

/** The folders that all share, up to those that say a split. */
function sharedFolders(folders: readonly string[][]): string[] {
  const first = folders[0] ?? [];
  let shared = 0;
  while (shared < first.length) {
    const name = first[shared];
    if (splitNamed(name) || folders.some((parts) => parts[shared] !== name)) break;
    shared += 1;
  }
  return first.slice(0, shared);
}

function classesOf(folders: ReadonlyMap<string, number>): string[] {
  const names = [...folders.keys()];
  const isDeep = names.some((name) => name === '' || name.includes('/'));
  const isKind = names.some((name) => KINDS_OF_FILES.has(name.toLowerCase()) || splitNamed(name));
  const pictures = [...folders.values()].reduce((sum, count) => sum + count, 0);
  const isFew = names.length < MIN_CLASSES || pictures < MIN_PICTURES_PER_CLASS * names.length;
  return isDeep || isKind || isFew ? [] : names.sort();
}

/** The meaning of the folders of pictures; other files are not looked at. */
export function folderShape(paths: readonly string[]): FolderShape {
  const counts = [...foldersOf(paths)].map(([folder, count]) => ({ parts: folder.split('/').slice(0, -1), count }));
  const top = sharedFolders(counts.map(({ parts }) => parts));
  const below = counts.map(({ parts, count }) => ({ parts: parts.slice(top.length), count }));
  const first = [...new Set(below.map(({ parts }) => parts[0]))];
  const prefix = top.map((name) => `${name}/`).join('');
  const areSplits = first.length > 0 && first.every(splitNamed);
  const inner = new Map<string, number>();
  for (const { parts, count } of below) {
    const name = (areSplits ? parts.slice(1) : parts).join('/');
    inner.set(name, (inner.get(name) ?? 0) + count);
  }
  const splits = areSplits
    ? first
        .sort()
        .flatMap((name): [string, Split][] => (name ? [[`${prefix}${name}/`, splitNamed(name) as Split]] : []))
    : [];
  return { classes: classesOf(inner), splits };
}

export const splitOfPath = (path: string, splits: FolderShape['splits'] | undefined): Split | null =>
  splits?.find(([prefix]) => path.startsWith(prefix))?.[1] ?? null;
