/**
 * Drafts of a page that goes. A browser may end a page before IndexedDB has written; what is set here is kept when the
 * call returns. It holds few megabytes, so each draft stays only until the slower store has it.
 */
interface Kept {
  sequence: number;
}

/** Keeps a draft; a full or forbidden store keeps nothing, and the slower one may still. */
export function keepAtLeaving(key: string, entry: Kept): void {
  try {
    localStorage.setItem(key, JSON.stringify(entry));
  } catch {
    forgetAtLeaving(key);
  }
}

/** Returns what an earlier page kept as it went; null where there is nothing that can be read. */
export function keptAtLeaving<E extends Kept>(key: string): E | null {
  try {
    const entry = JSON.parse(localStorage.getItem(key) ?? 'null') as E | null;
    return typeof entry?.sequence === 'number' ? entry : null;
  } catch {
    return null;
  }
}

/** Drops what was kept, unless it is newer than `sequence`. */
export function forgetAtLeaving(key: string, sequence = Number.POSITIVE_INFINITY): void {
  try {
    if ((keptAtLeaving(key)?.sequence ?? 0) <= sequence) localStorage.removeItem(key);
  } catch {
    // A browser without the store keeps nothing there.
  }
}
