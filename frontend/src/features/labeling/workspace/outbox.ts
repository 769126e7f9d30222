import type { Submission, SubmitResult } from '@/api/contract/labeling';
import type { KeyValue } from './kv';

export interface OutboxOptions {
  store: KeyValue;
  /** Whose batches, and of which task. */
  owner: string;
  /** The open page: each keeps its own batches, since one may still be taken back there. */
  page: string;
  /** Whether another page is open in this browser; what it keeps is its own. */
  isOpen: (page: string) => Promise<boolean>;
  /** Sends one batch. Throws when the server cannot be reached. */
  send: (submissions: Submission[]) => Promise<SubmitResult[]>;
  onResult: (results: SubmitResult[], submissions: readonly Submission[]) => void;
  /** A batch stays here for now, and why. */
  onUnsent: (error: unknown) => void;
  onChange: () => void;
  retryMs: number;
}

/**
 * Submitted batches on their way to the server. A batch is written to the browser's disk before it is sent and removed
 * after the answer; what is left from an earlier visit is sent again. Its idempotency keys make that harmless.
 */
export class Outbox {
  /** Batches that the server has not answered yet. */
  waiting = 0;
  offline = false;
  private entries = new Map<string, Submission[]>();
  private inFlight = new Set<string>();
  private sending: Promise<void> | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  private readonly options: OutboxOptions;

  constructor(options: OutboxOptions) {
    this.options = options;
  }

  /** Where the browser keeps an entry, `page:batch`. */
  private key(entry: string): string {
    return `outbox/${this.options.owner}/${entry}`;
  }

  private own(id: string): string {
    return `${this.options.page}:${id}`;
  }

  /** The images of those batches. */
  slots(): string[] {
    return [...this.entries.values()].flatMap((submissions) => submissions.map((one) => one.slot));
  }

  /** Sends what an earlier visit left behind; what another open page keeps, it sends itself. */
  async replay(): Promise<void> {
    const prefix = this.key('');
    for (const [key, submissions] of await this.options.store.entries<Submission[]>(prefix)) {
      const entry = key.slice(prefix.length);
      const [page = ''] = entry.split(':');
      if (page === this.options.page || !(await this.options.isOpen(page))) this.entries.set(entry, submissions);
    }
    this.count();
    await this.flush();
  }

  /** Makes a batch safe without sending it. */
  async hold(id: string, submissions: Submission[]): Promise<void> {
    await this.options.store.set(this.key(this.own(id)), submissions);
  }

  /** The person went back: nothing of this batch is sent. */
  async withdraw(id: string): Promise<void> {
    await this.options.store.remove([this.key(this.own(id))]);
  }

  release(id: string, submissions: Submission[]): Promise<void> {
    this.entries.set(this.own(id), submissions);
    this.count();
    return this.flush();
  }

  flush(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
      // A batch released while the last answer was on its way.
      if (this.entries.size > 0 && !this.offline) void this.flush();
    });
    return this.sending;
  }

  /** The page is going away: what is not on its way yet leaves now, side by side; the next visit sends it again. */
  sendNow(): void {
    for (const [id, submissions] of [...this.entries])
      if (!this.inFlight.has(id)) void this.sendOne(id, submissions).catch((error) => this.retryLater(error));
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async sendAll(): Promise<void> {
    clearTimeout(this.timer);
    for (const [id, submissions] of [...this.entries]) {
      if (this.inFlight.has(id)) continue;
      try {
        await this.sendOne(id, submissions);
      } catch (error) {
        this.retryLater(error);
        break;
      }
    }
  }

  private async sendOne(id: string, submissions: Submission[]): Promise<void> {
    this.inFlight.add(id);
    try {
      const results = await this.options.send(submissions);
      this.offline = false;
      this.entries.delete(id);
      await this.options.store.remove([this.key(id)]);
      this.options.onResult(results, submissions);
    } finally {
      this.inFlight.delete(id);
      this.count();
    }
  }

  private retryLater(error: unknown): void {
    this.offline = true;
    this.options.onUnsent(error);
    clearTimeout(this.timer);
    if (!this.stopped) this.timer = setTimeout(() => void this.flush(), this.options.retryMs);
    this.count();
  }

  private count(): void {
    this.waiting = this.entries.size;
    this.options.onChange();
  }
}
