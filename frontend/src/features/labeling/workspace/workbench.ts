import type { LeasedSlot, SubmitResult } from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import { type Batch, batchesOf, type HeldBatch, idsOf, submissionsOf, without } from './batches';
import { Drafts } from './drafts';
import type { Labels } from './grid';
import { type Gone, Leases } from './leases';
import { LocalDrafts } from './localDrafts';
import { Outbox } from './outbox';
import type { WorkbenchOptions } from './workbenchOptions';

export type WorkState = 'loading' | 'working' | 'empty' | 'failed';

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
  held: HeldBatch | null = null;
  /** Answers that the server did not count, with the reason of each. */
  refused: SubmitResult[] = [];
  submitted = 0;
  readonly outbox: Outbox;
  readonly drafts: Drafts;
  private queue: Batch[] = [];
  private leasing: Promise<void> | null = null;
  private nothingLeft = false;
  private readonly leases: Leases<LeasedSlot>;
  private readonly local: LocalDrafts;
  /** How many images are fetched ahead: fewer while others have none. */
  private ahead: number;
  private again: ReturnType<typeof setTimeout> | undefined;
  /** Whether the server has said what was held from before. */
  private opened = false;
  private stopped = false;
  private readonly options: WorkbenchOptions;

  constructor(options: WorkbenchOptions) {
    this.options = options;
    const { store, person, task, api, onChange } = options;
    this.local = new LocalDrafts(store, person, task);
    this.ahead = options.batchSize;
    this.leases = new Leases({
      heartbeat: api.heartbeat,
      isOurs: ({ id }) => this.ids.has(id),
      onLost: (slots, lease) => this.gone(slots, lease),
    });
    const onUnsent = (error: unknown) => this.kept(error);
    const owner = `${person}/${task}`;
    const { page = '', isOpen = async () => false } = options;
    this.outbox = new Outbox({
      store,
      owner,
      page,
      isOpen,
      send: api.submit,
      onResult: (results) => this.answered(results),
      onUnsent,
      onChange,
      retryMs: RETRY_MS,
    });
    const pauseMs = options.draftMs ?? 2000;
    this.drafts = new Drafts({ send: api.saveDraft, onUnsent, onChange, pauseMs, retryMs: RETRY_MS });
  }

  start(): Promise<void> {
    return this.orFail(async () => {
      if (!this.opened) await this.outbox.replay().then(() => this.readHeld());
      this.opened = true;
      await this.next();
    });
  }

  private async orFail(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * Work that the server holds for this person and is not at hand yet: first what was sent back, then what was leased
   * before.
   */
  private async readHeld(everything = false): Promise<void> {
    const { leased, returned } = await this.options.api.takeUp(everything);
    const known = new Set([...this.ids, ...this.outbox.slots()]);
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
    // The images of the screen are read again, with the classes that this machine has kept of them.
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
    return new Set([...this.outbox.slots(), ...idsOf([this.held?.batch]), ...this.drafts.unsent]);
  }

  /** Whether this machine keeps the work when the page is closed. */
  get durable(): boolean {
    return this.options.store.durable;
  }

  private async enqueue(slots: LeasedSlot[], returned: boolean): Promise<void> {
    if (slots.length === 0) return;
    this.leases.confirm(slots);
    const drafted = await this.local.read(slots);
    for (const slot of slots) {
      const { labelId = null, unsent = null } = drafted.get(slot.id) ?? {};
      if (unsent !== null) this.drafts.set(slot, unsent, labelId);
    }
    for (const batch of batchesOf(slots, drafted, { size: this.options.batchSize, returned })) {
      this.queue.push(batch);
      this.options.preload?.(batch.slots);
    }
  }

  /** Whoever has nothing to show takes also what others have only fetched ahead. */
  private async lease(prefetch: boolean): Promise<void> {
    if (this.leasing) {
      await this.leasing;
      if (prefetch || this.queue.length > 0) return;
    }
    this.leasing = this.leaseOnce(prefetch).finally(() => {
      this.leasing = null;
    });
    return this.leasing;
  }

  private async leaseOnce(prefetch: boolean): Promise<void> {
    if ((prefetch && this.nothingLeft) || this.stopped) return;
    const slots = await this.options.api.lease(prefetch ? this.ahead : this.options.batchSize, prefetch);
    const known = this.ids;
    const fresh = slots.filter((slot) => !known.has(slot.id));
    this.renew(slots.filter((slot) => known.has(slot.id)));
    this.nothingLeft = fresh.length === 0;
    this.options.onCounts?.();
    await this.enqueue(fresh, false);
  }

  private get batches(): Batch[] {
    return [this.current, this.held?.batch, ...this.queue].filter((batch) => batch != null);
  }

  private get ids(): ReadonlySet<string> {
    return idsOf(this.batches);
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
      // The text of a failure stays until the server has answered.
      if (this.state !== 'failed') this.set('loading');
      await this.lease(false);
      // An auditor may have sent work back since the page was opened.
      if (this.queue.length === 0) await this.readHeld();
    }
    this.current = this.queue.shift() ?? null;
    this.set(this.current ? 'working' : 'empty');
    if (!this.current) return;
    void this.show(this.current).catch(() => {}); // The heartbeat asks again.
    if (this.queue.length === 0) void this.lease(true).catch(() => {}); // Asked again by the next Enter.
  }

  /** Claims the images for this page; some may have gone to somebody who had none. */
  private async show(batch: Batch): Promise<void> {
    const gone = new Set(await this.options.api.show(batch.slots));
    if (gone.size === 0) this.ahead = Math.min(this.options.batchSize, this.ahead * 2);
    if (gone.size === 0 || this.current?.id !== batch.id) return;
    this.shrink();
    this.drafts.forget([...gone]);
    this.current = without(this.current, gone);
    if (this.current.slots.length === 0) await this.next();
    else this.options.onChange();
  }

  private shrink(): void {
    this.ahead = Math.max(1, Math.floor(this.ahead / 2));
  }

  /** Images that were only fetched ahead and are somebody else's now are no loss. */
  private gone(slots: LeasedSlot[], lease: Gone): void {
    const onScreen = idsOf([this.current, this.held?.batch]);
    const seen = slots.filter(({ id }) => onScreen.has(id));
    if (seen.length < slots.length) this.shrink();
    if (seen.length > 0) this.options.onLost?.(seen, lease);
  }

  /** Goes on here with what another open page of this person shows. */
  takeAll(): Promise<void> {
    return this.orFail(() => this.readHeld(true).then(() => this.next()));
  }

  /** Puts the batch aside as done and shows the next one at once; it can be taken back for a while. */
  async submit(labels: Labels, preset: number | null, activeMs: number): Promise<void> {
    const batch = this.current;
    if (!batch) return;
    const submissions = submissionsOf({ ...batch, labels, preset }, activeMs, this.options.newKey);
    if (this.held) void this.releaseHeld();
    const timer = setTimeout(() => void this.releaseHeld(), this.options.holdMs ?? 8000);
    this.held = { batch: { ...batch, labels, preset }, submissions, timer };
    this.submitted += batch.slots.length;
    // Where this machine cannot keep it, only the server can.
    const safe = this.outbox.hold(batch.id, submissions).catch(() => this.releaseHeld());
    await this.orFail(() => this.next());
    await safe;
    // Without a next batch the screen has no way back: there is nothing to wait for.
    if (!this.current) await this.releaseHeld();
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
    await this.local.forget(ids);
  }

  /** The page may not come back: whatever is not on the server leaves at once. */
  pageHidden(): void {
    void this.releaseHeld();
    this.outbox.sendNow();
    void this.drafts.send();
    this.options.api.leave();
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

  /** Passes an image on to somebody else; returns it, for `unskip`. */
  async skip(slotId: string, reason = ''): Promise<LeasedSlot | null> {
    const slot = this.current?.slots.find((one) => one.id === slotId);
    if (!slot || !this.current) return null;
    await this.options.api.skip(slot, reason);
    this.options.onCounts?.();
    this.current = without(this.current, new Set([slotId]));
    this.drafts.forget([slotId]);
    void this.local.forget([slotId]);
    if (this.current.slots.length === 0) await this.next();
    else this.options.onChange();
    return slot;
  }

  /** Takes a skip back. Throws when somebody else has the image by now. */
  async unskip(skipped: LeasedSlot): Promise<void> {
    const slot = await this.options.api.unskip(skipped);
    this.leases.confirm([slot]);
    this.options.onCounts?.();
    if (this.current) this.current = { ...this.current, slots: [...this.current.slots, slot] };
    else this.current = { id: slot.id, slots: [slot], labels: {}, preset: null, returned: false };
    this.set('working');
  }

  /** Autosave: at once on this machine, after a pause on the server. */
  draft(slotId: string, labelId: number | null): void {
    const slot = this.current?.slots.find((one) => one.id === slotId);
    if (!slot) return;
    this.drafts.set(slot, this.local.set(slotId, labelId), labelId);
  }

  /** Keeps every lease alive; what is lost and was not looked at is dropped. */
  async heartbeat(): Promise<void> {
    await this.leases.beat(this.batches.flatMap(({ slots }) => slots));
    this.dropLost();
  }

  /** The page is seen again: its leases may have been shortened when it was left. */
  returned(): Promise<void> {
    this.options.api.returned();
    return this.heartbeat();
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

  /** Images that were not looked at are somebody else's; those on the screen stay, and may be submitted. */
  private dropLost(): void {
    this.queue = this.queue.flatMap((batch) => {
      const lost = batch.slots.filter(this.leases.isLost);
      if (lost.length === 0) return [batch];
      return lost.length < batch.slots.length ? [without(batch, new Set(lost.map(({ id }) => id)))] : [];
    });
  }

  /** The labeler goes to another page: others need not wait for the leases to expire. */
  leave(): void {
    this.queue = [];
    this.options.api.leave();
    this.options.onCounts?.();
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

  /** A person who may not label here any more, or whose task is gone, must not go on: it would count for nothing. */
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
