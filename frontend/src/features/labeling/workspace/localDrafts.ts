import type { LeasedSlot } from '@/api/contract/labeling';
import type { KeyValue } from './kv';

interface LocalDraft {
  label_id: number | null;
  sequence: number;
}

/** A class that was chosen: by this browser where it is newer than what the server has. */
export interface Drafted {
  labelId: number | null;
  /** Set where the server does not have it yet. */
  unsent: number | null;
}

/** The class in a slot's draft on the server, where any document can be kept. */
function draftedLabel({ draft }: LeasedSlot): number | null {
  const label = draft?.label_id;
  return typeof label === 'number' ? label : null;
}

/** Chosen classes that this browser keeps, and how often each was saved: of two drafts the one saved more counts. */
export class LocalDrafts {
  private sequences = new Map<string, number>();

  private readonly store: KeyValue;
  private readonly prefix: string;

  constructor(store: KeyValue, person: string, task: string) {
    this.store = store;
    this.prefix = `draft/${person}/${task}/`;
  }

  async read(slots: readonly LeasedSlot[]): Promise<Map<string, Drafted>> {
    const local = new Map(await this.store.entries<LocalDraft>(this.prefix));
    return new Map(slots.map((slot) => [slot.id, this.newer(slot, local.get(this.prefix + slot.id))]));
  }

  private newer(slot: LeasedSlot, saved: LocalDraft | undefined): Drafted {
    const sent = slot.draft_seq ?? 0;
    this.sequences.set(slot.id, Math.max(saved?.sequence ?? 0, sent));
    if (!saved || saved.sequence < sent) return { labelId: draftedLabel(slot), unsent: null };
    return { labelId: saved.label_id, unsent: saved.sequence > sent ? saved.sequence : null };
  }

  /** Keeps a class at once; returns how often the image's class was saved. */
  set(slotId: string, labelId: number | null): number {
    const sequence = (this.sequences.get(slotId) ?? 0) + 1;
    this.sequences.set(slotId, sequence);
    void this.store.set(this.prefix + slotId, { label_id: labelId, sequence } satisfies LocalDraft);
    return sequence;
  }

  forget(ids: readonly string[]): Promise<void> {
    return this.store.remove(ids.map((id) => this.prefix + id));
  }
}
