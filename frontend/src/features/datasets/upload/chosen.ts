/** Files that somebody dropped or chose: with paths, whichever way the browser gives them. No React. */
import { comparePaths, type PathProblem, pathProblem } from './packing/paths';

/** A file with the path that it had below what was chosen: `pets/cats/1.png`. */
export interface RawFile {
  path: string;
  file: File;
}

export interface Chosen {
  /** The one folder that all files lie in; empty where files were chosen, or several folders. */
  root: string;
  files: RawFile[];
}

/** A file as it will be in the dataset. */
export interface UploadFile {
  path: string;
  size: number;
  /** Milliseconds, as browsers say it. */
  mtime: number;
  file: File;
}

export type ProblemKind = PathProblem | 'path_twice' | 'unreadable' | 'missing' | 'changed' | 'replaced';

export interface FileProblem {
  path: string;
  kind: ProblemKind;
}

export interface Placing {
  /** Where the files go: empty, or with its slash at the end. */
  folder: string;
  /** Whether the name of the chosen folder becomes a folder of the dataset. */
  keepName: boolean;
}

function rootOf(files: readonly RawFile[]): string {
  const first = files[0]?.path ?? '';
  const root = first.slice(0, first.indexOf('/') + 1);
  return root !== '' && files.every(({ path }) => path.startsWith(root)) ? root.slice(0, -1) : '';
}

export function chosenFiles(list: Iterable<File>): Chosen {
  const files = Array.from(list, (file) => ({ path: file.webkitRelativePath || file.name, file }));
  return { root: rootOf(files), files };
}

const readBatch = (reader: FileSystemDirectoryReader) =>
  new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

async function walk(entry: FileSystemEntry, path: string, files: RawFile[], onFile: () => void): Promise<void> {
  if (entry.isFile) {
    files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
    onFile();
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives a hundred at a time, and nothing at the end.
  for (let batch = await readBatch(reader); batch.length > 0; batch = await readBatch(reader))
    for (const child of batch) await walk(child, `${path}/${child.name}`, files, onFile);
}

/**
 * The dropped files, folders with all that is in them. To be called in the handler of the event: later the browser has
 * forgotten them. `onFile` gets the number of files so far.
 */
export function droppedFiles(data: DataTransfer, onFile?: (count: number) => void): Promise<Chosen> {
  const items = [...data.items].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  return readDropped(entries, onFile);
}

async function readDropped(
  entries: { entry: FileSystemEntry | null; file: File | null }[],
  onFile?: (count: number) => void,
): Promise<Chosen> {
  const files: RawFile[] = [];
  for (const { entry, file } of entries) {
    if (entry) await walk(entry, entry.name, files, () => onFile?.(files.length));
    else if (file) files.push({ path: file.name, file });
  }
  return { root: rootOf(files), files };
}

/** The files as they will be in the dataset, sorted, and those that it cannot hold. */
export function placed({ root, files }: Chosen, { folder, keepName }: Placing) {
  const skip = root !== '' && !keepName ? root.length + 1 : 0;
  const problems: FileProblem[] = [];
  const good: UploadFile[] = [];
  for (const { path: given, file } of files) {
    const path = folder + given.slice(skip);
    const kind = pathProblem(path);
    if (kind) problems.push({ path, kind });
    else good.push({ path, size: file.size, mtime: file.lastModified, file });
  }
  good.sort((left, right) => comparePaths(left.path, right.path));
  const isTwice = (file: UploadFile, at: number) => good[at - 1]?.path === file.path;
  problems.push(...good.filter(isTwice).map(({ path }) => ({ path, kind: 'path_twice' as const })));
  return { files: good.filter((file, at) => !isTwice(file, at)), problems };
}

/** Path, size and time of a file: what it is known by when it is chosen again. */
export type SavedFile = [path: string, size: number, mtime: number];

export const savedFile = ({ path, size, mtime }: UploadFile): SavedFile => [path, size, mtime];

/** The differences between the files of an upload and those that were chosen to go on with it. */
export function differences(saved: readonly SavedFile[], files: readonly UploadFile[]): FileProblem[] {
  const now = new Map(files.map((file) => [file.path, file]));
  return saved.flatMap(([path, size, mtime]): FileProblem[] => {
    const file = now.get(path);
    if (!file) return [{ path, kind: 'missing' }];
    return file.size === size && file.mtime === mtime ? [] : [{ path, kind: 'changed' }];
  });
}
