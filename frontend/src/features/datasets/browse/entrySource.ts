import type { Entry, EntryListing, EntryQuery } from '@/api/contract/datasets';

export type FetchPage = (query: EntryQuery, signal?: AbortSignal) => Promise<EntryListing>;

/** Kept for the drawer's neighbours; the grid keeps its own pages. */
const RECENT_PAGES = 8;

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

  /** The entry at `index`, loading its page when it is not at hand; null beyond the end. */
  async entryAt(index: number): Promise<Entry | null> {
    if (index < 0) return null;
    const start = index - (index % this.pageSize);
    const page = this.recent.get(start) ?? (await this.load(start, start + this.pageSize));
    return page[index - start] ?? null;
  }
}
