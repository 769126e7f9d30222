import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import { type HeldBatch, idsOf, type SlotGroup, without } from './batches';
import { Drafts } from './drafts';
import { type Gone, Leases } from './leases';
import { type Drafted, LocalDrafts, type Packing } from './localDrafts';
import { Outbox } from './outbox';
import type { WorkbenchOptions } from './workbenchOptions';

export type WorkState = 'loading' | 'working' | 'empty' | 'failed';

/** Also asked this often while the browser does not say that the connection is back. */
const RETRY_MS = 5000;

/** The kind of work on a table: how much of it is shown at once, and how it is kept. */
export interface TableKind<D> {
  packing: Packing<D>;
  /** Groups of images that should be at hand beside the one on the screen. */
  ahead: number;
  /** Drafts are sent every so often although the work goes on. */
  steady?: boolean;
}

/**
 * The labeler's table: the group of images being worked on, the next ones already here, the last one still within reach.
 * Framework-free; the screen reads its public fields after `onChange`. `B` is a group with its work, `D` the draft of
 * an image.
 */
export abstract class WorkTable<B extends SlotGroup, D> {
  state: WorkState = 'loading';
  error: unknown = null;
  current: B | null = null;
  held: HeldBatch<B> | null = null;
  /** Answers that the server did not count, with the reason of each. */
  refused: SubmitResult[] = [];
  submitted = 0;
  readonly outbox: Outbox;
  readonly drafts: Drafts<D>;
  protected queue: B[] = [];
  private leasing: Promise<void> | null = null;
  private nothingLeft = false;
  private readonly leases: Leases<LeasedSlot>;
  protected readonly local: LocalDrafts<D>;
  /** Whether the browser kept the last draft: a full disk does not. */
  private diskTakes = true;
  private readonly kind: TableKind<D>;
  /** How many images are fetched ahead: fewer while others have none. */
  private ahead: number;
  private again: ReturnType<typeof setTimeout> | undefined;
  /** Whether the server has said what was held from before. */
  private opened = false;
  private stopped = false;
  protected readonly options: WorkbenchOptions<D>;

  constructor(options: WorkbenchOptions<D>, kind: TableKind<D>) {
    this.options = options;
    this.kind = kind;
    const { store, person, task, api, onChange } = options;
    this.local = new LocalDrafts({
      store,
      person,
      task,
      packing: kind.packing,
      pauseMs: options.localMs,
      onKept: (kept) => this.diskChanged(kept),
    });
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
      onResult: (results, submissions) => this.answered(results, submissions),
      onUnsent,
      onChange,
      retryMs: RETRY_MS,
    });
    const pauseMs = options.draftMs ?? 2000;
    const { steady } = kind;
    this.drafts = new Drafts({ send: api.saveDraft, onUnsent, onChange, pauseMs, steady, retryMs: RETRY_MS });
  }

  /** The groups of leased images, each with the work that was done before. */
  protected abstract groupsOf(slots: LeasedSlot[], drafted: ReadonlyMap<string, Drafted<D>>, returned: boolean): B[];

  /** The answers of a group. */
  protected abstract submissionsOf(batch: B, activeMs: number): Submission[];

  /** Adds an image that is ours again; to nothing, where the screen is empty. */
  protected abstract withSlot(batch: B | null, slot: LeasedSlot): B;

  private diskChanged(kept: boolean): void {
    if (kept === this.diskTakes) return;
    this.diskTakes = kept;
    if (!kept) void this.drafts.send();
    this.options.onChange();
  }

  start(): Promise<void> {
    return this.orFail(async () => {
      if (!this.opened) await this.outbox.replay().then(() => this.readHeld());
      this.opened = true;
      await this.next();
    });
  }

  protected async orFail(work: () => Promise<unknown>): Promise<void> {
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
    if (leased.length + returned.length > 0) this.options.onTaken?.();
    const known = new Set([...this.ids, ...this.outbox.slots()]);
    const fresh = (slots: LeasedSlot[]) => slots.filter((slot) => !known.has(slot.id));
    await this.enqueue(fresh(returned), true);
    await this.enqueue(fresh(leased), false);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.again);
    if (this.held) void this.releaseHeld();
    this.keepDrafts();
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
    return this.options.store.durable && this.diskTakes;
  }

  private async enqueue(slots: LeasedSlot[], returned: boolean): Promise<void> {
    if (slots.length === 0) return;
    this.leases.confirm(slots);
    const drafted = await this.local.read(slots);
    for (const slot of slots) {
      const draft = drafted.get(slot.id);
      if (draft && draft.unsent !== null) this.drafts.set(slot, draft.unsent, draft.value);
    }
    for (const batch of this.groupsOf(slots, drafted, returned)) {
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
    // A page that has nothing also takes what another one has only fetched ahead.
    if (!prefetch && slots.length > 0) this.options.onTaken?.();
    const known = this.ids;
    const fresh = slots.filter((slot) => !known.has(slot.id));
    this.renew(slots.filter((slot) => known.has(slot.id)));
    this.nothingLeft = fresh.length === 0;
    this.options.onCounts?.();
    await this.enqueue(fresh, false);
  }

  private get batches(): B[] {
    return [this.current, this.held?.batch, ...this.queue].filter((batch) => batch != null);
  }

  private get ids(): ReadonlySet<string> {
    return idsOf(this.batches);
  }

  /** Images on the screen whose lease had run out are ours again, under another number. */
  private renew(slots: LeasedSlot[]): void {
    const renewed = new Map(slots.map((slot) => [slot.id, slot]));
    const inBatch = (batch: B): B => ({
      ...batch,
      slots: batch.slots.map((slot) => ({ ...slot, lease_no: renewed.get(slot.id)?.lease_no ?? slot.lease_no })),
    });
    this.leases.confirm(slots);
    if (this.current) this.current = inBatch(this.current);
    this.queue = this.queue.map(inBatch);
  }

  protected async next(): Promise<void> {
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
    if (this.queue.length < this.kind.ahead) void this.lease(true).catch(() => {}); // Asked again by the next Enter.
  }

  /** Claims the images for this page; some may have gone to somebody who had none. */
  private async show(batch: B): Promise<void> {
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
    return this.orFail(async () => {
      await this.options.onTaking?.();
      await this.readHeld(true);
      await this.next();
    });
  }

  /** Puts a batch aside as done and shows the next one at once; it can be taken back for a while. */
  protected async put(batch: B, activeMs: number): Promise<void> {
    const submissions = this.submissionsOf(batch, activeMs);
    if (this.held) void this.releaseHeld();
    const timer = setTimeout(() => void this.releaseHeld(), this.options.holdMs ?? 8000);
    this.held = { batch, submissions, timer };
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
    // The outbox has them on the disk already. Forgotten first: a refused answer is a draft again.
    const forgotten = this.local.forget(ids);
    await this.outbox.release(held.batch.id, held.submissions);
    await forgotten;
  }

  /** The page may not come back: whatever is not on the server leaves at once. */
  pageHidden(): void {
    void this.releaseHeld();
    this.outbox.sendNow();
    this.keepDrafts();
    this.options.api.leave();
  }

  /** Drafts go to the disk and to the server now. */
  keepDrafts(): void {
    this.local.leave();
    void this.drafts.send();
  }

  /** Takes the last batch back; `current`, as it is now, comes after it. False when it is already on its way. */
  protected async takeBack(current: B | null): Promise<boolean> {
    const held = this.held;
    if (!held) return false;
    clearTimeout(held.timer);
    this.held = null;
    if (current) this.queue.unshift(current);
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
    const before = this.current;
    this.current = this.withSlot(before, slot);
    // Where only one image is shown at once, the other one comes after it.
    if (before && before.id !== this.current.id) this.queue.unshift(before);
    this.set('working');
  }

  /** Autosave: at once on this machine, after a pause on the server. */
  draft(slotId: string, value: D): void {
    const slot = this.current?.slots.find((one) => one.id === slotId);
    if (!slot) return;
    this.drafts.set(slot, this.local.set(slotId, value), value);
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

  protected answered(results: SubmitResult[], _submissions: readonly Submission[]): void {
    const refused = results.filter((result) => !result.ok);
    this.refused = [...this.refused, ...refused];
    // Where one lease had run out, those that came with it may have, too.
    if (refused.length > 0) void this.heartbeat();
    this.options.onCounts?.();
    this.options.onChange();
  }

  protected set(state: WorkState): void {
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
