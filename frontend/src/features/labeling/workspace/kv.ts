/** A key-value store that survives a closed tab. */
export interface KeyValue {
  /** Whether what is set outlives the page; false where the browser gives no disk. */
  readonly durable: boolean;
  set(key: string, value: unknown): Promise<void>;
  remove(keys: readonly string[]): Promise<void>;
  /** Every entry whose key starts with `prefix`, in the order of the keys. */
  entries<T>(prefix: string): Promise<[key: string, value: T][]>;
}

export function memoryStore(): KeyValue {
  const map = new Map<string, unknown>();
  return {
    durable: false,
    set: async (key, value) => void map.set(key, structuredClone(value)),
    remove: async (keys) => {
      for (const key of keys) map.delete(key);
    },
    entries: async <T>(prefix: string) =>
      [...map].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1)) as [string, T][],
  };
}

const STORE = 'kv';

function opened(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function done(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** IndexedDB, or memory where the browser has none (private windows, full disks). */
export async function openStore(name: string): Promise<KeyValue> {
  try {
    const database = await opened(name);
    const write = (act: (store: IDBObjectStore) => void): Promise<void> => {
      const transaction = database.transaction(STORE, 'readwrite');
      act(transaction.objectStore(STORE));
      return done(transaction);
    };
    return {
      durable: true,
      set: (key, value) => write((store) => void store.put(value, key)),
      remove: (keys) =>
        write((store) => {
          for (const key of keys) store.delete(key);
        }),
      entries: async <T>(prefix: string) => {
        const transaction = database.transaction(STORE);
        const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
        const keys = transaction.objectStore(STORE).getAllKeys(range);
        const values = transaction.objectStore(STORE).getAll(range);
        await done(transaction);
        return keys.result.map((key, index) => [String(key), values.result[index] as T]);
      },
    };
  } catch {
    return memoryStore();
  }
}
