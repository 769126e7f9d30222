import type { LeasedSlot } from '@/api/contract/labeling';
import { pooled } from './pool';

export interface DraftsOptions {
  /** Throws when the server cannot be reached. */
  send: (slot: LeasedSlot, sequence: number, labelId: number | null) => Promise<unknown>;
  /** A class stays here for now, and why. */
  onUnsent: (error: unknown) => void;
  onChange: () => void;
  /** The pause after the last change. */
  pauseMs: number;
  retryMs: number;
}

interface Draft {
  slot: LeasedSlot;
  /** The server keeps the draft with the larger number among two of an image. */
  sequence: number;
  labelId: number | null;
}

const REQUESTS_AT_ONCE = 4;

/** Classes that were chosen but not submitted, on their way to the server: the last one of each image. */
export class Drafts {
  private changed = new Map<string, Draft>();
  private sending = new Map<string, Draft>();
  /** Those of `changed` that the server could not be told. */
  private unreached = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  private readonly options: DraftsOptions;

  constructor(options: DraftsOptions) {
    this.options = options;
  }

  /** Images whose class the server has not answered for. */
  get unsent(): ReadonlySet<string> {
    return new Set([...this.changed.keys(), ...this.sending.keys()]);
  }

  get offline(): boolean {
    return this.unreached.size > 0;
  }

  set(slot: LeasedSlot, sequence: number, labelId: number | null): void {
    this.changed.set(slot.id, { slot, sequence, labelId });
    this.sendIn(this.options.pauseMs);
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
    clearTimeout(this.timer);
    const pending = [...this.changed.values()];
    this.changed.clear();
    for (const draft of pending) this.sending.set(draft.slot.id, draft);
    await pooled(pending, REQUESTS_AT_ONCE, (draft) => this.sendOne(draft));
    if (this.offline) this.sendIn(this.options.retryMs);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private sendIn(delayMs: number): void {
    clearTimeout(this.timer);
    if (!this.stopped) this.timer = setTimeout(() => void this.send(), delayMs);
  }

  private async sendOne(draft: Draft): Promise<void> {
    const { id } = draft.slot;
    let failed: { error: unknown } | null = null;
    try {
      await this.options.send(draft.slot, draft.sequence, draft.labelId);
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

  private keep(draft: Draft): void {
    const { id } = draft.slot;
    this.unreached.add(id);
    if (!this.changed.has(id)) this.changed.set(id, draft);
  }
}
