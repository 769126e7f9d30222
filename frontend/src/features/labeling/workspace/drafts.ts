import type { LeasedSlot } from '@/api/contract/labeling';
import { pooled } from './pool';

export interface DraftsOptions<D> {
  /** Throws when the server cannot be reached. */
  send: (slot: LeasedSlot, sequence: number, value: D) => Promise<unknown>;
  /** A draft stays here for now, and why. */
  onUnsent: (error: unknown) => void;
  onChange: () => void;
  /** The pause after the last change; after the first where `steady` is set, so that no stream of changes delays it. */
  pauseMs: number;
  steady?: boolean;
  retryMs: number;
}

interface Draft<D> {
  slot: LeasedSlot;
  /** The server keeps the draft with the larger number among two of an image. */
  sequence: number;
  value: D;
}

const REQUESTS_AT_ONCE = 4;

/** Work that is not submitted yet, on its way to the server: the last draft of each image. */
export class Drafts<D> {
  private changed = new Map<string, Draft<D>>();
  private sending = new Map<string, Draft<D>>();
  /** Those of `changed` that the server could not be told. */
  private unreached = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  private readonly options: DraftsOptions<D>;

  constructor(options: DraftsOptions<D>) {
    this.options = options;
  }

  /** Images whose draft the server has not answered for. */
  get unsent(): ReadonlySet<string> {
    return new Set([...this.changed.keys(), ...this.sending.keys()]);
  }

  get offline(): boolean {
    return this.unreached.size > 0;
  }

  set(slot: LeasedSlot, sequence: number, value: D): void {
    this.changed.set(slot.id, { slot, sequence, value });
    if (!this.options.steady || this.timer === undefined) this.sendIn(this.options.pauseMs);
    this.options.onChange();
  }

  /** These images were submitted or given back: their drafts mean nothing any more. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.changed.delete(id);
      this.sending.delete(id);
      this.unreached.delete(id);
    }
    this.options.onChange();
  }

  async send(): Promise<void> {
    this.clearTimer();
    const pending = [...this.changed.values()];
    this.changed.clear();
    for (const draft of pending) this.sending.set(draft.slot.id, draft);
    await pooled(pending, REQUESTS_AT_ONCE, (draft) => this.sendOne(draft));
    if (this.offline) this.sendIn(this.options.retryMs);
  }

  stop(): void {
    this.stopped = true;
    this.clearTimer();
  }

  private clearTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private sendIn(delayMs: number): void {
    this.clearTimer();
    if (!this.stopped) this.timer = setTimeout(() => void this.send(), delayMs);
  }

  private async sendOne(draft: Draft<D>): Promise<void> {
    const { id } = draft.slot;
    let failed: { error: unknown } | null = null;
    try {
      await this.options.send(draft.slot, draft.sequence, draft.value);
    } catch (error) {
      failed = { error };
    }
    // A newer draft of the image is on its way, or the image was submitted.
    if (this.sending.get(id) !== draft) return;
    this.sending.delete(id);
    if (failed) this.keep(draft);
    else this.unreached.delete(id);
    if (failed) this.options.onUnsent(failed.error);
    this.options.onChange();
  }

  private keep(draft: Draft<D>): void {
    const { id } = draft.slot;
    this.unreached.add(id);
    if (!this.changed.has(id)) this.changed.set(id, draft);
  }
}
