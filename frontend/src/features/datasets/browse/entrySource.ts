import type { Entry, EntryListing, EntryQuery } from '@/api/contract/datasets';

export type FetchPage = (query: EntryQuery, signal?: AbortSignal) => Promise<EntryListing>;

/**
 * Random access to the entries of one filter, page by page. No React.
 *
 * The server pages by cursor, so a jump walks the pages between; the walk is remembered and stops when its signal is
 * aborted.
 */
export class EntrySource {
  readonly pageSize: number;
  private readonly fetchPage: FetchPage;
  /** Cursor of the page that begins at an index. */
  private readonly cursors = new Map<number, string | undefined>([[0, undefined]]);
  private readonly recent = new Map<number, Entry[]>();

  constructor(fetchPage: FetchPage, pageSize = 200) {
    this.fetchPage = fetchPage;
    this.pageSize = pageSize;
  }

  /** Entries `[start, start + pageSize)`; `start` must be a multiple of the page size. */
  readonly load = (start: number, _end: number, signal?: AbortSignal): Promise<Entry[]> => this.walkTo(start, signal);

  /** The entry at `index`, loading its page when it is not at hand; null beyond the end. */
  async entryAt(index: number): Promise<Entry | null> {
    if (index < 0) return null;
    const start = index - (index % this.pageSize);
    const page = this.recent.get(start) ?? (await this.load(start, start + this.pageSize));
    return page[index - start] ?? null;
  }

  private async walkTo(start: number, signal?: AbortSignal): Promise<Entry[]> {
    let at = Math.max(...[...this.cursors.keys()].filter((known) => known <= start));
    for (;;) {
      const page = await this.fetchPage({ limit: this.pageSize, cursor: this.cursors.get(at) }, signal);
      const entries = this.keep(at, page);
      if (at === start) return entries;
      if (page.next === null) return [];
      at += this.pageSize;
    }
  }

  private keep(start: number, page: EntryListing): Entry[] {
    if (page.next !== null) this.cursors.set(start + this.pageSize, page.next);
    this.recent.delete(start);
    this.recent.set(start, page.results);
    const [oldest] = this.recent.keys();
    if (this.recent.size > 8 && oldest !== undefined) this.recent.delete(oldest);
    return page.results;
  }
}
