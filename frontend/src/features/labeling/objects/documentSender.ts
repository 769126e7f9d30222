import type { LeasedSlot } from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import type { DocumentV2 } from '../canvas/model';
import { type Patch, patchBetween } from '../canvas/patches';
import { asDocument, canonical } from './documents';

/** A draft on its way: the whole document, or the steps to it from the draft `base`. */
export type DraftBody = { seq: number; document: DocumentV2 } | { seq: number; base: number; patch: Patch };

interface Base {
  seq: number;
  document: DocumentV2;
}

/** Sends documents as the steps since the draft that the server has, where that is less. */
export class DocumentSender {
  private readonly bases = new Map<string, Base>();
  private readonly put: (slot: LeasedSlot, body: DraftBody) => Promise<unknown>;

  constructor(put: (slot: LeasedSlot, body: DraftBody) => Promise<unknown>) {
    this.put = put;
  }

  /** The server's drafts as they came with their slots. */
  confirm(slots: readonly LeasedSlot[]): void {
    for (const { id, draft, draft_seq } of slots) {
      const document = asDocument(draft);
      if (document && draft_seq !== null) this.bases.set(id, { seq: draft_seq, document });
      else this.bases.delete(id);
    }
  }

  async send(slot: LeasedSlot, seq: number, drawn: DocumentV2): Promise<void> {
    const document = canonical(drawn);
    const base = this.bases.get(slot.id);
    const whole = { seq, document };
    const steps = base && patchBetween(base.document, document);
    const isShorter = steps && JSON.stringify(steps).length < JSON.stringify(document).length;
    await (isShorter ? this.patched(slot, { seq, base: base.seq, patch: steps }, whole) : this.put(slot, whole));
    this.bases.set(slot.id, { seq, document });
  }

  /** The server may have another draft by now: it gets the whole then. */
  private async patched(slot: LeasedSlot, patch: DraftBody, whole: DraftBody): Promise<void> {
    try {
      await this.put(slot, patch);
    } catch (error) {
      if (asApiError(error).code !== 'draft_base_unknown') throw error;
      await this.put(slot, whole);
    }
  }
}
