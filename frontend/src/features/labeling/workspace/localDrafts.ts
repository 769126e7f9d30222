import type { LeasedSlot } from '@/api/contract/labeling';
import type { KeyValue } from './kv';
import { forgetAtLeaving, keepAtLeaving, keptAtLeaving } from './leaving';

/** Work that was not submitted: of this browser where it is newer than what the server has. */
export interface Drafted<D> {
  value: D;
  /** Set where the server does not have it yet. */
  unsent: number | null;
}

/** How drafts of a kind of work are kept. */
export interface Packing<D> {
  /** The draft that came with a slot, where any document can be kept. */
  ofServer: (slot: LeasedSlot) => D;
  pack: (value: D) => object;
  unpack: (entry: object) => D;
}

/** A class of an image. */
export const CLASS_PACKING: Packing<number | null> = {
  ofServer: ({ draft }) => labelOf(draft ?? {}),
  pack: (value) => ({ label_id: value }),
  unpack: labelOf,
};

function labelOf(entry: object): number | null {
  const label = (entry as { label_id?: unknown }).label_id;
  return typeof label === 'number' ? label : null;
}

export interface LocalDraftsOptions<D> {
  store: KeyValue;
  person: string;
  task: string;
  packing: Packing<D>;
  /** The pause between two writes of an image; 0 writes at once. */
  pauseMs?: number;
  /** The browser could not keep a draft, or can again. */
  onKept: (kept: boolean) => void;
}

interface Entry {
  sequence: number;
}

/** Drafts that this browser keeps, and how often each was saved: of two drafts the one saved more counts. */
export class LocalDrafts<D> {
  private sequences = new Map<string, number>();
  /** Values that wait for the next write. */
  private waiting = new Map<string, D>();
  /** Values whose write has begun. */
  private writing = new Map<string, D>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  private readonly options: LocalDraftsOptions<D>;
  private readonly prefix: string;

  constructor(options: LocalDraftsOptions<D>) {
    this.options = options;
    this.prefix = `draft/${options.person}/${options.task}/`;
  }

  async read(slots: readonly LeasedSlot[]): Promise<Map<string, Drafted<D>>> {
    await this.flush();
    const local = new Map(await this.options.store.entries<Entry>(this.prefix));
    await Promise.all(slots.map(({ id }) => this.takeKept(this.prefix + id, local)));
    return new Map(slots.map((slot) => [slot.id, this.newer(slot, local.get(this.prefix + slot.id))]));
  }

  /** Moves what a page kept as it went, where the store has nothing as new. */
  private async takeKept(key: string, local: Map<string, Entry>): Promise<void> {
    const kept = keptAtLeaving<Entry>(key);
    if (!kept) return;
    if (kept.sequence > (local.get(key)?.sequence ?? 0)) {
      local.set(key, kept);
      const isStored = await this.options.store.set(key, kept).then(
        () => true,
        () => false,
      );
      if (!isStored) return;
    }
    forgetAtLeaving(key, kept.sequence);
  }

  private newer(slot: LeasedSlot, saved: Entry | undefined): Drafted<D> {
    const { packing } = this.options;
    const sent = slot.draft_seq ?? 0;
    this.sequences.set(slot.id, Math.max(saved?.sequence ?? 0, sent));
    if (!saved || saved.sequence < sent) return { value: packing.ofServer(slot), unsent: null };
    return { value: packing.unpack(saved), unsent: saved.sequence > sent ? saved.sequence : null };
  }

  /** Keeps a draft; returns how often the image's draft was saved. */
  set(slotId: string, value: D): number {
    const sequence = (this.sequences.get(slotId) ?? 0) + 1;
    this.sequences.set(slotId, sequence);
    this.waiting.set(slotId, value);
    const { pauseMs = 0 } = this.options;
    if (pauseMs === 0) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), pauseMs);
    return sequence;
  }

  /** Keeps a draft whose count is not known here: the time is larger than any. */
  restore(slotId: string, value: D): number {
    this.sequences.set(slotId, Math.max(this.sequences.get(slotId) ?? 0, Date.now()));
    const sequence = this.set(slotId, value);
    void this.flush();
    return sequence;
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const waiting = [...this.waiting];
    this.waiting.clear();
    await Promise.all(waiting.map(([slotId, value]) => this.write(slotId, value)));
  }

  /** Keeps at once what is not written yet, since the page may end with this call; then writes it. */
  leave(): void {
    for (const [slotId, value] of [...this.writing, ...this.waiting])
      keepAtLeaving(this.prefix + slotId, this.entryOf(slotId, value));
    void this.flush();
  }

  private entryOf(slotId: string, value: D): Entry {
    return { ...this.options.packing.pack(value), sequence: this.sequences.get(slotId) ?? 0 };
  }

  private async write(slotId: string, value: D): Promise<void> {
    const { store, onKept } = this.options;
    const entry = this.entryOf(slotId, value);
    this.writing.set(slotId, value);
    try {
      await store.set(this.prefix + slotId, entry);
      forgetAtLeaving(this.prefix + slotId, entry.sequence);
      onKept(true);
    } catch {
      // A full disk: only the server can keep it.
      onKept(false);
    } finally {
      if (this.writing.get(slotId) === value) this.writing.delete(slotId);
    }
  }

  async forget(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.waiting.delete(id);
      this.writing.delete(id);
      forgetAtLeaving(this.prefix + id);
    }
    await this.options.store.remove(ids.map((id) => this.prefix + id));
  }
}
