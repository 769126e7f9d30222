/**
 * Uploads that are not at their end, kept in the browser: what was asked for, the files by path, size and time, and the
 * packs that were hashed. Their bytes are not kept. Without IndexedDB (private windows of some browsers) nothing is.
 */

import type { Placing, SavedFile, UploadFile } from './chosen';
import type { FolderShape } from './classFolders';
import type { PackSummary } from './packing/pack';

export interface Order extends Placing {
  id: string;
  /** Whose it is: a browser may be shared. */
  owner: string;
  project: string;
  dataset: string;
  branch: string;
  message: string;
  /** Whether other files of the folder go. */
  replaces: boolean;
  /** Whether files get their folders' names as labels; left out, what the branch's last push did goes on. */
  labels?: boolean | undefined;
  /** The folders whose files get a split; left out, none do. */
  splits?: FolderShape['splits'] | undefined;
  /** The commit that the branch was at when the upload began, null for none; not known before that. */
  began?: string | null;
  /** Name of the folder that was chosen; empty where files were. */
  root: string;
  startedAt: string;
  filesTotal: number;
  bytesTotal: number;
}

interface SavedPack {
  files: SavedFile[];
  summary: PackSummary;
}

const NAME = 'atom-uploads';
const [ORDERS, FILES, PACKS] = ['orders', 'files', 'packs'];

function open(): Promise<IDBDatabase | null> {
  if (typeof indexedDB === 'undefined') return Promise.resolve(null);
  return new Promise((resolve) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(ORDERS, { keyPath: 'id' });
      request.result.createObjectStore(FILES);
      request.result.createObjectStore(PACKS);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(null);
  });
}

let opened: Promise<IDBDatabase | null> | undefined;
const database = () => {
  opened ??= open();
  return opened;
};

const asked = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function read<T>(store: string, ask: (from: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  const held = await database();
  return held ? asked(ask(held.transaction(store).objectStore(store))) : undefined;
}

async function write(stores: string[], change: (of: (name: string) => IDBObjectStore) => void): Promise<void> {
  const held = await database();
  if (!held) return;
  const transaction = held.transaction(stores, 'readwrite');
  change((name) => transaction.objectStore(name));
  // A full disk loses the way to go on after a reload, not the upload.
  await new Promise<void>((resolve) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => resolve();
  });
}

const packKey = (id: string, files: readonly SavedFile[]) => [id, files[0]?.[0] ?? '', files.length];
const packsOf = (id: string) => IDBKeyRange.bound([id], [id, []]);

export const saveOrder = (order: Order, files: readonly SavedFile[]): Promise<void> =>
  write([ORDERS, FILES], (of) => {
    of(ORDERS).put(order);
    of(FILES).put(files, order.id);
  });

export const forgetOrder = (id: string): Promise<void> =>
  write([ORDERS, FILES, PACKS], (of) => {
    of(ORDERS).delete(id);
    of(FILES).delete(id);
    of(PACKS).delete(packsOf(id));
  });

/** The unfinished uploads of a person in a project, the newest first. */
export async function savedOrders(owner: string, project: string): Promise<Order[]> {
  const orders = (await read<Order[]>(ORDERS, (from) => from.getAll())) ?? [];
  const mine = orders.filter((order) => order.owner === owner && order.project === project);
  return mine.sort((left, right) => right.startedAt.localeCompare(left.startedAt));
}

export const savedFiles = async (id: string): Promise<SavedFile[]> =>
  (await read<SavedFile[]>(FILES, (from) => from.get(id))) ?? [];

export const savePack = (id: string, files: SavedFile[], summary: PackSummary): Promise<void> =>
  write([PACKS], (of) => of(PACKS).put({ files, summary } satisfies SavedPack, packKey(id, files)));

/** The saved digests of these files, if they are the same as before. */
export async function savedPack(id: string, files: readonly SavedFile[]): Promise<PackSummary | undefined> {
  const found = await read<SavedPack | undefined>(PACKS, (from) => from.get(packKey(id, files)));
  return found && JSON.stringify(found.files) === JSON.stringify(files) ? found.summary : undefined;
}

export const bytesOf = (files: readonly UploadFile[]): number => files.reduce((sum, { size }) => sum + size, 0);
