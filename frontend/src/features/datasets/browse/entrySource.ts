import type { Entry, EntryListing, EntryQuery } from '@/api/contract/datasets';

export type FetchPage = (query: EntryQuery, signal?: AbortSignal) => Promise<EntryListing>;

/** Kept for the drawer's neighbours; the grid keeps its own pages. */
const RECENT_PAGES = 8;

const bytes = new TextEncoder();

/** Orders paths as versions do: by their bytes in UTF-8. */
function comparePaths(one: string, other: string): number {
  const [left, right] = [bytes.encode(one), bytes.encode(other)];
  const at = left.findIndex((byte, index) => byte !== right[index]);
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}

/** Random access to the entries of one filter, page by page: a version never changes, so a number names an entry. No React. */
export class EntrySource {
  readonly pageSize: number;
  private readonly fetchPage: FetchPage;
  private readonly recent = new Map<number, Entry[]>();

  constructor(fetchPage: FetchPage, pageSize = 200) {
    this.fetchPage = fetchPage;
    this.pageSize = pageSize;
  }

  /** Entries `[start, start + pageSize)`; `start` must be a multiple of the page size. */
  readonly load = async (start: number, _end: number, signal?: AbortSignal): Promise<Entry[]> => {
    const { results } = await this.fetchPage({ limit: this.pageSize, offset: start || undefined }, signal);
    this.recent.delete(start);
    this.recent.set(start, results);
    const [oldest] = this.recent.keys();
    if (this.recent.size > RECENT_PAGES && oldest !== undefined) this.recent.delete(oldest);
    return results;
  };

  /** The number of the entry `path` among `total`, which are in the order of their paths; null where it is not. */
  async placeOf(path: string, total: number): Promise<number | null> {
    let [low, high] = [0, Math.ceil(total / this.pageSize) - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const start = middle * this.pageSize;
      const page = this.recent.get(start) ?? (await this.load(start, start + this.pageSize));
      const [first, last] = [page[0], page.at(-1)];
      if (!first || !last || comparePaths(path, first.path) < 0) high = middle - 1;
      else if (comparePaths(path, last.path) > 0) low = middle + 1;
      else {
        const at = page.findIndex((entry) => entry.path === path);
        return at < 0 ? null : start + at;
      }
    }
    return null;
  }

  /** The entry at `index`, loading its page when it is not at hand; null beyond the end. */
  async entryAt(index: number): Promise<Entry | null> {
    if (index < 0) return null;
    const start = index - (index % this.pageSize);
    const page = this.recent.get(start) ?? (await this.load(start, start + this.pageSize));
    return page[index - start] ?? null;
  }
}
