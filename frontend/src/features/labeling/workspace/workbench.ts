import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import { Drafts } from './drafts';
import type { Labels } from './grid';
import type { KeyValue } from './kv';
import { type Gone, Leases } from './leases';
import { Outbox } from './outbox';
import { pooled } from './pool';
import type { WorkbenchApi } from './workbenchApi';

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
  /** Whose work it is: what one has not sent must not leave under the name of the next at this machine. */
  person: string;
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
  /** Leases are gone; each is told once. */
  onLost?: (slots: LeasedSlot[], lease: Gone) => void;
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
  /** Answers that the server did not count, with the reason of each. */
  refused: SubmitResult[] = [];
  submitted = 0;
  readonly outbox: Outbox;
  readonly drafts: Drafts;
  private queue: Batch[] = [];
  private leasing: Promise<void> | null = null;
  private nothingLeft = false;
  private readonly leases: Leases<LeasedSlot>;
  private sequences = new Map<string, number>();
  private again: ReturnType<typeof setTimeout> | undefined;
  /** Whether the server has said what was held from before. */
  private opened = false;
  private stopped = false;

  private readonly options: WorkbenchOptions;

  constructor(options: WorkbenchOptions) {
    this.options = options;
    const { store, person, task, api, onChange, onLost } = options;
    const isOurs = ({ id }: LeasedSlot) => [...this.allSlots()].some((slot) => slot.id === id);
    this.leases = new Leases({ heartbeat: api.heartbeat, isOurs, onLost });
    const onUnsent = (error: unknown) => this.kept(error);
    const onResult = (results: SubmitResult[]) => this.answered(results);
    const owner = `${person}/${task}`;
    this.outbox = new Outbox({ store, owner, send: api.submit, onResult, onUnsent, onChange, retryMs: RETRY_MS });
    const pauseMs = options.draftMs ?? 2000;
    this.drafts = new Drafts({ send: api.saveDraft, onUnsent, onChange, pauseMs, retryMs: RETRY_MS });
  }

  async start(): Promise<void> {
    try {
      if (!this.opened) await this.outbox.replay().then(() => this.readHeld());
      this.opened = true;
      await this.next();
    } catch (error) {
      this.fail(error);
    }
  }

  /** What the server holds for this person and is not at hand yet: what was sent back, then what was leased before. */
  private async readHeld(): Promise<void> {
    const { leased, returned } = await this.options.api.myWork();
    const known = new Set([...[...this.allSlots()].map((slot) => slot.id), ...this.outbox.slots()]);
    const fresh = (slots: LeasedSlot[]) => slots.filter((slot) => !known.has(slot.id));
    await this.enqueue(fresh(returned), true);
    await this.enqueue(fresh(leased), false);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.again);
    if (this.held) void this.releaseHeld();
    void this.drafts.send();
    this.outbox.stop();
    this.drafts.stop();
  }

  retry(): void {
    // What was on the screen is read again, with the classes that this machine has kept of it.
    if (this.current) this.opened = false;
    this.current = null;
    this.set('loading');
    this.ask();
  }

  private ask(): void {
    clearTimeout(this.again);
    this.nothingLeft = false;
    void this.start();
  }

  /** Whether what failed is asked for again without being told to: the server was away. */
  get retrying(): boolean {
    const { code, isTemporary } = asApiError(this.error);
    return code === 'unreachable' || isTemporary;
  }

  /** The connection is back: nothing waits for its next attempt. */
  online(): void {
    void this.outbox.flush();
    void this.drafts.send();
    if (this.state === 'failed') this.ask();
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
    return `draft/${this.options.person}/${this.options.task}/${slotId}`;
  }

  /** Of the drafts on this machine and on the server the newer one counts: the one saved more often. */
  private async enqueue(slots: LeasedSlot[], returned: boolean): Promise<void> {
    if (slots.length === 0) return;
    this.leases.confirm(slots);
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
    this.renew(slots.filter((slot) => known.has(slot.id)));
    this.nothingLeft = fresh.length === 0;
    this.options.onCounts?.();
    await this.enqueue(fresh, false);
  }

  private *allSlots(): Generator<LeasedSlot> {
    for (const batch of [this.current, this.held?.batch, ...this.queue]) if (batch) yield* batch.slots;
  }

  /** Images on the screen whose lease had run out are ours again, under another number. */
  private renew(slots: LeasedSlot[]): void {
    const renewed = new Map(slots.map((slot) => [slot.id, slot]));
    const inBatch = (batch: Batch): Batch => ({
      ...batch,
      slots: batch.slots.map((slot) => ({ ...slot, lease_no: renewed.get(slot.id)?.lease_no ?? slot.lease_no })),
    });
    this.leases.confirm(slots);
    if (this.current) this.current = inBatch(this.current);
    this.queue = this.queue.map(inBatch);
  }

  private async next(): Promise<void> {
    await this.checkQueue();
    if (this.queue.length === 0) {
      this.current = null;
      // What the page says of a failure stays until the server has answered.
      if (this.state !== 'failed') this.set('loading');
      await this.lease();
      // An auditor may have sent work back since the page was opened.
      if (this.queue.length === 0) await this.readHeld();
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

  /** Keeps every lease alive; what is lost and was not looked at is dropped. */
  async heartbeat(): Promise<void> {
    await this.leases.beat([...this.allSlots()]);
    this.dropLost();
  }

  /** A batch that came long ago may be somebody else's by now. */
  private async checkQueue(): Promise<void> {
    while (this.queue[0]) {
      const first = this.queue[0];
      const unsure = this.leases.unsure(first.slots);
      if (unsure.length === 0) return;
      // While the server is asked, nothing that is done already stands there to be submitted once more.
      this.current = null;
      if (this.state !== 'failed') this.set('loading');
      await this.leases.beat(unsure);
      this.dropLost();
      if (this.queue[0] === first) return;
    }
  }

  /** What was not looked at is somebody else's; what is on the screen stays, and may be submitted. */
  private dropLost(): void {
    this.queue = this.queue.flatMap((batch) => {
      const slots = batch.slots.filter((slot) => !this.leases.isLost(slot));
      if (slots.length === batch.slots.length) return [batch];
      return slots.length > 0 ? [{ ...batch, slots }] : [];
    });
  }

  /** Gives back what was prefetched but not looked at, so that others need not wait for the lease to expire. */
  async leave(): Promise<void> {
    const unseen = this.queue.flatMap((batch) => (batch.returned ? [] : batch.slots));
    this.queue = this.queue.filter((batch) => batch.returned);
    await pooled(unseen, REQUESTS_AT_ONCE, (slot) => this.options.api.release(slot));
    if (unseen.length > 0) this.options.onCounts?.();
  }

  dismissRefused(): void {
    this.refused = [];
    this.options.onChange();
  }

  private answered(results: SubmitResult[]): void {
    const refused = results.filter((result) => !result.ok);
    this.refused = [...this.refused, ...refused];
    // Where one lease had run out, those that came with it may have, too.
    if (refused.length > 0) void this.heartbeat();
    this.options.onCounts?.();
    this.options.onChange();
  }

  private set(state: WorkState): void {
    this.state = state;
    this.options.onChange();
  }

  /** Who may not label here any more, or whose task is gone, must not go on: it would count for nothing. */
  private kept(error: unknown): void {
    if ([403, 404].includes(asApiError(error).status)) this.fail(error);
  }

  private fail(error: unknown): void {
    this.error = error;
    this.set('failed');
    clearTimeout(this.again);
    if (!this.stopped && this.retrying) this.again = setTimeout(() => this.ask(), RETRY_MS);
  }
}
