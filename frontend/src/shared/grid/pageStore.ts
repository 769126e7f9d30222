/** Pages of a long list, loaded when looked at and dropped when not. No React: see VirtualGrid. */
export type LoadRange<T> = (start: number, end: number, signal: AbortSignal) => Promise<T[]>;

interface Page<T> {
  items: T[] | null;
  error: unknown;
  abort: AbortController | null;
}

/** Kept pages: about 20,000 entries. */
const MAX_PAGES = 100;

export class PageStore<T> {
  readonly pageSize: number;
  private readonly load: LoadRange<T>;
  private readonly onChange: () => void;
  /** In the order of their last use. */
  private readonly pages = new Map<number, Page<T>>();

  constructor(load: LoadRange<T>, onChange: () => void, pageSize = 200) {
    this.load = load;
    this.onChange = onChange;
    this.pageSize = pageSize;
  }

  at(index: number): T | undefined {
    return this.pages.get(Math.floor(index / this.pageSize))?.items?.[index % this.pageSize];
  }

  /** Why a part of `[first, last)` could not be read; null when all of it is here or on its way. */
  errorWithin(first: number, last: number): unknown {
    const [from, to] = this.pagesOf(first, last);
    for (let number = from; number <= to; number++) {
      const error = this.pages.get(number)?.error;
      if (error) return error;
    }
    return null;
  }

  /** Loads what `[first, last)` needs, aborts every other load under way and forgets others that failed. */
  show(first: number, last: number): void {
    const [from, to] = this.pagesOf(first, last);
    for (const [number, page] of this.pages) {
      if ((page.abort || page.error) && (number < from || number > to)) {
        page.abort?.abort();
        this.pages.delete(number);
      }
    }
    for (let number = from; number <= to; number++) this.touch(number);
    this.evict();
  }

  /** Tries the failed pages again. */
  retry(): void {
    const failed = [...this.pages].filter(([, { error }]) => error);
    for (const [number] of failed) this.pages.delete(number);
    if (failed.length > 0) this.onChange();
  }

  dispose(): void {
    for (const page of this.pages.values()) page.abort?.abort();
    this.pages.clear();
  }

  private pagesOf(first: number, last: number): [from: number, to: number] {
    return [Math.floor(first / this.pageSize), Math.floor(Math.max(first, last - 1) / this.pageSize)];
  }

  private touch(number: number): void {
    const known = this.pages.get(number);
    if (known) {
      this.pages.delete(number);
      this.pages.set(number, known);
      return;
    }
    const page: Page<T> = { items: null, error: null, abort: new AbortController() };
    this.pages.set(number, page);
    void this.fetch(number, page);
  }

  private async fetch(number: number, page: Page<T>): Promise<void> {
    const signal = (page.abort as AbortController).signal;
    const start = number * this.pageSize;
    try {
      page.items = await this.load(start, start + this.pageSize, signal);
    } catch (error) {
      if (signal.aborted) return;
      page.error = error;
    }
    page.abort = null;
    this.onChange();
  }

  private evict(): void {
    for (const [number, page] of this.pages) {
      if (this.pages.size <= MAX_PAGES) return;
      if (!page.abort) this.pages.delete(number);
    }
  }
}
