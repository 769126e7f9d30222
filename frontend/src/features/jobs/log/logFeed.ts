import type { LogFrame, LogStore } from './logStore';

export interface LogPage {
  frames: LogFrame[];
  next: number;
  eof: boolean;
}

export interface LogFeedOptions {
  store: LogStore;
  /** One HTTP read from a byte offset on. */
  fetchPage: (from: number, signal: AbortSignal) => Promise<LogPage>;
  /** Called after the store has grown or the state has changed; at most once a frame is the caller's business. */
  onChange: () => void;
  /** How long to wait before a read that found nothing, or failed, is tried again. */
  pollMs?: number;
}

export type FeedState = 'loading' | 'live' | 'paused' | 'ended' | 'failed';

/**
 * Keeps a LogStore up to date: reads by HTTP from the store's own offset until it has caught up, then takes live frames;
 * a live frame that would leave a hole is dropped and the hole is read by HTTP. Framework-free.
 */
export class LogFeed {
  state: FeedState = 'loading';
  error: unknown = null;
  private abort = new AbortController();
  private reading = false;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  private readonly options: LogFeedOptions;

  constructor(options: LogFeedOptions) {
    this.options = options;
  }

  start(): void {
    if (this.abort.signal.aborted) this.abort = new AbortController();
    void this.catchUp();
  }

  stop(): void {
    this.abort.abort();
    clearTimeout(this.timer);
  }

  pause(): void {
    if (this.state === 'ended') return;
    clearTimeout(this.timer);
    this.set('paused');
  }

  resume(): void {
    if (this.state !== 'paused' && this.state !== 'failed') return;
    this.set('loading');
    void this.catchUp();
  }

  /** A frame from the socket. */
  receive(frame: LogFrame): void {
    if (this.state === 'paused') return;
    if (this.options.store.append(frame)) this.options.onChange();
    else void this.catchUp();
  }

  /** The socket dropped frames, was reconnected, or says that the log has ended: read what is missing. */
  poke(): void {
    if (this.state !== 'paused') void this.catchUp();
  }

  private async catchUp(): Promise<void> {
    if (this.reading) {
      this.again = true;
      return;
    }
    this.reading = true;
    clearTimeout(this.timer);
    try {
      await this.readAll();
    } catch (error) {
      this.fail(error);
    } finally {
      this.reading = false;
    }
    if (this.again && !this.abort.signal.aborted) {
      this.again = false;
      void this.catchUp();
    }
  }

  private async readAll(): Promise<void> {
    const { store, fetchPage, onChange, pollMs = 1000 } = this.options;
    const { signal } = this.abort;
    for (;;) {
      const before = store.next;
      const page = await fetchPage(before, signal);
      if (signal.aborted || this.state === 'paused') return;
      for (const frame of page.frames) store.append(frame);
      if (store.next !== before) onChange();
      if (page.eof && store.next >= page.next) return this.set('ended');
      if (store.next === before) break;
    }
    this.set('live');
    this.timer = setTimeout(() => void this.catchUp(), pollMs);
  }

  private fail(error: unknown): void {
    if (this.abort.signal.aborted) return;
    this.set('failed', error);
    this.timer = setTimeout(() => void this.catchUp(), (this.options.pollMs ?? 1000) * 5);
  }

  /** A poll that finds nothing changes nothing. */
  private set(state: FeedState, error: unknown = null): void {
    if (state === this.state && error === this.error) return;
    this.state = state;
    this.error = error;
    this.options.onChange();
  }
}
