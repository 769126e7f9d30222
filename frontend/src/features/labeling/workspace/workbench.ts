import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import { Drafts } from './drafts';
import type { Labels } from './grid';
import type { KeyValue } from './kv';
import { Outbox } from './outbox';
import { pooled } from './pool';

export interface WorkbenchApi {
  myWork: () => Promise<{ leased: LeasedSlot[]; returned: LeasedSlot[] }>;
  lease: (count: number) => Promise<LeasedSlot[]>;
  submit: (submissions: Submission[]) => Promise<SubmitResult[]>;
  /** Throws when the lease is lost. */
  heartbeat: (slot: LeasedSlot) => Promise<unknown>;
  release: (slot: LeasedSlot) => Promise<unknown>;
  skip: (slot: LeasedSlot) => Promise<unknown>;
  /** Throws when the server cannot be reached. */
  saveDraft: (slot: LeasedSlot, sequence: number, labelId: number | null) => Promise<unknown>;
}

export interface Batch {
  id: string;
  slots: LeasedSlot[];
  labels: Labels;
  preset: number | null;
  /** Work that an auditor has sent back. */
  returned: boolean;
}

export interface WorkbenchOptions {
  api: WorkbenchApi;
  store: KeyValue;
  task: string;
  batchSize: number;
  /** How long a submitted batch can be taken back. */
  holdMs?: number;
  draftMs?: number;
  newKey?: () => string;
  /** Called with the images that will be shown next. */
  preload?: (slots: LeasedSlot[]) => void;
  /** Images were leased, submitted or given back: the server counts others now. */
  onCounts?: () => void;
  onChange: () => void;
}

interface Held {
  batch: Batch;
  submissions: Submission[];
  timer: ReturnType<typeof setTimeout>;
}

interface LocalDraft {
  label_id: number | null;
  sequence: number;
}

/** The class in a slot's draft on the server, where any document can be kept. */
function draftedLabel({ draft }: LeasedSlot): number | null {
  const label = draft?.label_id;
  return typeof label === 'number' ? label : null;
}

export type WorkState = 'loading' | 'working' | 'empty' | 'failed';

const REQUESTS_AT_ONCE = 4;
/** Also asked this often while the browser does not say that the connection is back. */
const RETRY_MS = 5000;

/**
 * The labeler's table: the batch being worked on, the next one already here, the last one still within reach.
 * Framework-free; the screen reads its public fields after `onChange`.
 */
export class Workbench {
  state: WorkState = 'loading';
  error: unknown = null;
  current: Batch | null = null;
  held: Held | null = null;
  /** Answers that came after the lease had gone to somebody else. */
  stale: string[] = [];
  submitted = 0;
  readonly outbox: Outbox;
  readonly drafts: Drafts;
  private queue: Batch[] = [];
  private leasing: Promise<void> | null = null;
  private nothingLeft = false;
  private sequences = new Map<string, number>();
  /** Whether the server has said what was held from before. */
  private opened = false;
  private stopped = false;

  private readonly options: WorkbenchOptions;

  constructor(options: WorkbenchOptions) {
    this.options = options;
    const { store, task, api, onChange } = options;
    const onResult = (results: SubmitResult[]) => this.answered(results);
    this.outbox = new Outbox({ store, task, send: api.submit, onResult, onChange, retryMs: RETRY_MS });
    const pauseMs = options.draftMs ?? 2000;
    this.drafts = new Drafts({ send: api.saveDraft, onChange, pauseMs, retryMs: RETRY_MS });
  }

  async start(): Promise<void> {
    try {
      await this.outbox.replay();
      const { leased, returned } = await this.options.api.myWork();
      this.opened = true;
      await this.enqueue(returned, true);
      await this.enqueue(leased, false);
      await this.next();
    } catch (error) {
      this.fail(error);
    }
  }

  stop(): void {
    this.stopped = true;
    if (this.held) void this.releaseHeld();
    void this.drafts.send();
    this.outbox.stop();
    this.drafts.stop();
  }

  retry(): void {
    this.set('loading');
    this.nothingLeft = false;
    if (!this.opened) void this.start();
    else void this.next().catch((error: unknown) => this.fail(error));
  }

  /** The connection is back: nothing waits for its next attempt. */
  online(): void {
    void this.outbox.flush();
    void this.drafts.send();
    if (this.state === 'failed') this.retry();
  }

  /** Images whose class the server has not answered for: submitted, held back or only chosen. */
  get unsent(): ReadonlySet<string> {
    const held = this.held?.batch.slots.map((slot) => slot.id) ?? [];
    return new Set([...this.outbox.slots(), ...held, ...this.drafts.unsent]);
  }

  /** Whether this machine keeps the work when the page is closed. */
  get durable(): boolean {
    return this.options.store.durable;
  }

  private draftKey(slotId: string): string {
    return `draft/${this.options.task}/${slotId}`;
  }

  /** Of the drafts on this machine and on the server the newer one counts: the one saved more often. */
  private async enqueue(slots: LeasedSlot[], returned: boolean): Promise<void> {
    if (slots.length === 0) return;
    const prefix = this.draftKey('');
    const local = new Map(await this.options.store.entries<LocalDraft>(prefix));
    for (let at = 0; at < slots.length; at += this.options.batchSize) {
      const part = slots.slice(at, at + this.options.batchSize);
      const labels: Record<string, number> = {};
      for (const slot of part) {
        const saved = local.get(prefix + slot.id);
        const mine = saved && saved.sequence >= (slot.draft_seq ?? 0) ? saved : undefined;
        const label = mine ? mine.label_id : draftedLabel(slot);
        if (mine && mine.sequence > (slot.draft_seq ?? 0)) this.drafts.set(slot, mine.sequence, mine.label_id);
        this.sequences.set(slot.id, Math.max(saved?.sequence ?? 0, slot.draft_seq ?? 0));
        if (label != null) labels[slot.id] = label;
      }
      const id = part[0]?.id ?? '';
      this.queue.push({ id, slots: part, labels, preset: null, returned });
      this.options.preload?.(part);
    }
  }

  private lease(): Promise<void> {
    this.leasing ??= this.leaseOnce().finally(() => {
      this.leasing = null;
    });
    return this.leasing;
  }

  private async leaseOnce(): Promise<void> {
    if (this.nothingLeft || this.stopped) return;
    const slots = await this.options.api.lease(this.options.batchSize);
    const known = new Set([...this.allSlots()].map((slot) => slot.id));
    const fresh = slots.filter((slot) => !known.has(slot.id));
    this.nothingLeft = fresh.length === 0;
    this.options.onCounts?.();
    await this.enqueue(fresh, false);
  }

  private *allSlots(): Generator<LeasedSlot> {
    for (const batch of [this.current, this.held?.batch, ...this.queue]) if (batch) yield* batch.slots;
  }

  private async next(): Promise<void> {
    if (this.queue.length === 0) {
      this.current = null;
      this.set('loading');
      await this.lease();
    }
    this.current = this.queue.shift() ?? null;
    this.set(this.current ? 'working' : 'empty');
    if (this.queue.length === 0 && this.current) void this.lease().catch(() => {}); // Asked again by the next Enter.
  }

  /** Puts the batch aside as done and shows the next one at once; it can be taken back for a while. */
  async submit(labels: Labels, preset: number | null, activeMs: number): Promise<void> {
    const batch = this.current;
    if (!batch) return;
    const submissions = this.submissionsOf({ ...batch, labels, preset }, activeMs);
    if (this.held) void this.releaseHeld();
    const timer = setTimeout(() => void this.releaseHeld(), this.options.holdMs ?? 8000);
    this.held = { batch: { ...batch, labels, preset }, submissions, timer };
    this.submitted += batch.slots.length;
    // Where this machine cannot keep it, only the server can.
    const safe = this.outbox.hold(batch.id, submissions).catch(() => this.releaseHeld());
    try {
      await this.next();
    } catch (error) {
      this.fail(error);
    }
    await safe;
    // Without a next batch the screen has no way back: there is nothing to wait for.
    if (!this.current) await this.releaseHeld();
  }

  private submissionsOf(batch: Batch, activeMs: number): Submission[] {
    const newKey = this.options.newKey ?? (() => crypto.randomUUID());
    const each = Math.round(activeMs / Math.max(1, batch.slots.length));
    return batch.slots.map((slot) => ({
      slot: slot.id,
      lease_no: slot.lease_no,
      idempotency_key: newKey(),
      label_id: (batch.labels[slot.id] ?? batch.preset) as number,
      active_ms: each,
    }));
  }

  private async releaseHeld(): Promise<void> {
    const held = this.held;
    if (!held) return;
    this.held = null;
    clearTimeout(held.timer);
    this.options.onChange();
    const ids = held.batch.slots.map((slot) => slot.id);
    this.drafts.forget(ids);
    await this.outbox.release(held.batch.id, held.submissions);
    await this.options.store.remove(ids.map((id) => this.draftKey(id)));
  }

  /** The page may not come back: whatever is not on the server leaves at once. */
  pageHidden(): void {
    void this.releaseHeld();
    this.outbox.sendNow();
    void this.drafts.send();
  }

  /** Takes the last batch back; false when it is already on its way. */
  async back(labels: Labels, preset: number | null): Promise<boolean> {
    const held = this.held;
    if (!held) return false;
    clearTimeout(held.timer);
    this.held = null;
    if (this.current) this.queue.unshift({ ...this.current, labels, preset });
    this.current = held.batch;
    this.submitted -= held.batch.slots.length;
    this.set('working');
    await this.outbox.withdraw(held.batch.id);
    return true;
  }

  /** An image that cannot be labelled goes back; somebody else, or an auditor, will see it. */
  async skip(slotId: string): Promise<void> {
    const slot = this.current?.slots.find((one) => one.id === slotId);
    if (!slot || !this.current) return;
    await this.options.api.skip(slot);
    this.options.onCounts?.();
    this.current = { ...this.current, slots: this.current.slots.filter((one) => one.id !== slotId) };
    this.drafts.forget([slotId]);
    if (this.current.slots.length === 0) await this.next();
  }

  /** Autosave: at once on this machine, after a pause on the server. */
  draft(slotId: string, labelId: number | null): void {
    const slot = this.current?.slots.find((one) => one.id === slotId);
    if (!slot) return;
    const sequence = (this.sequences.get(slotId) ?? 0) + 1;
    this.sequences.set(slotId, sequence);
    void this.options.store.set(this.draftKey(slotId), { label_id: labelId, sequence } satisfies LocalDraft);
    this.drafts.set(slot, sequence, labelId);
  }

  /** Keeps every lease alive; those that are lost are reported. */
  async heartbeat(): Promise<LeasedSlot[]> {
    const slots = [...this.allSlots()];
    return pooled(slots, REQUESTS_AT_ONCE, (slot) => this.options.api.heartbeat(slot));
  }

  /** Gives back what was prefetched but not looked at, so that others need not wait for the lease to expire. */
  async leave(): Promise<void> {
    const unseen = this.queue.flatMap((batch) => (batch.returned ? [] : batch.slots));
    this.queue = this.queue.filter((batch) => batch.returned);
    await pooled(unseen, REQUESTS_AT_ONCE, (slot) => this.options.api.release(slot));
    if (unseen.length > 0) this.options.onCounts?.();
  }

  dismissStale(): void {
    this.stale = [];
    this.options.onChange();
  }

  private answered(results: SubmitResult[]): void {
    const lost = results.filter((result) => !result.ok).map((result) => result.slot);
    if (lost.length > 0) this.stale = [...this.stale, ...lost];
    this.options.onCounts?.();
    this.options.onChange();
  }

  private set(state: WorkState): void {
    this.state = state;
    this.options.onChange();
  }

  private fail(error: unknown): void {
    this.error = error;
    this.set('failed');
  }
}
