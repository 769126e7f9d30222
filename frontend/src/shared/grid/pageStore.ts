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

  errorAt(index: number): unknown {
    return this.pages.get(Math.floor(index / this.pageSize))?.error ?? null;
  }

  /** Loads what `[first, last)` needs, and aborts every other load under way. */
  show(first: number, last: number): void {
    const from = Math.floor(first / this.pageSize);
    const to = Math.floor(Math.max(first, last - 1) / this.pageSize);
    for (const [number, page] of this.pages) {
      if (page.abort && (number < from || number > to)) {
        page.abort.abort();
        this.pages.delete(number);
      }
    }
    for (let number = from; number <= to; number++) this.touch(number);
    this.evict();
  }

  /** Tries the failed pages again. */
  retry(): void {
    for (const [number, page] of this.pages) if (page.error) this.pages.delete(number);
    this.onChange();
  }

  dispose(): void {
    for (const page of this.pages.values()) page.abort?.abort();
    this.pages.clear();
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
