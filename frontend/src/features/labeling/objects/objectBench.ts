import type { LeasedSlot, Submission } from '@/api/contract/labeling';
import { addClip, type Clipboard } from '../canvas/edits';
import { objectsOf } from '../canvas/model';
import type { SlotGroup } from '../workspace/batches';
import type { Drafted } from '../workspace/localDrafts';
import {
  DOCUMENT_PACKING,
  type DocumentProblem,
  DocumentTable,
  type DocumentTableOptions,
  type ObjectDraft,
  type RefusedDocument,
} from './documentTable';

/** One picture on the table. */
export interface PictureGroup extends SlotGroup, ObjectDraft {
  problems: DocumentProblem[];
}

const LOCAL_MS = 2000;
const SERVER_MS = 15_000;
const HOLD_MS = 30_000;
/** Pictures that are fetched before they are shown. */
export const PICTURES_AHEAD = 3;

/** The table of drawn objects: one picture after another, each with its document. */
export class ObjectBench extends DocumentTable<PictureGroup> {
  constructor(options: DocumentTableOptions) {
    super({ localMs: LOCAL_MS, draftMs: SERVER_MS, holdMs: HOLD_MS, ...options }, PICTURES_AHEAD);
  }

  protected groupsOf(
    slots: LeasedSlot[],
    drafted: ReadonlyMap<string, Drafted<ObjectDraft>>,
    returned: boolean,
  ): PictureGroup[] {
    return slots.map((slot) => {
      const draft = drafted.get(slot.id)?.value ?? DOCUMENT_PACKING.ofServer(slot);
      return { id: slot.id, slots: [slot], returned, problems: [], ...draft };
    });
  }

  protected submissionsOf({ slots, document }: PictureGroup, activeMs: number): Submission[] {
    return slots.map((slot) => this.submissionOf(slot, document, activeMs));
  }

  protected groupsOfRefused(refused: RefusedDocument[]): PictureGroup[] {
    return refused.map(({ slot, returned, draft, problems }) => ({
      id: slot.id,
      slots: [slot],
      returned,
      problems,
      ...draft,
    }));
  }

  protected withSlot(_shown: PictureGroup | null, slot: LeasedSlot): PictureGroup {
    return { id: slot.id, slots: [slot], returned: false, problems: [], ...DOCUMENT_PACKING.ofServer(slot) };
  }

  /** The picture's work as it is on the screen now. */
  private shown(draft: ObjectDraft): PictureGroup | null {
    return this.current && { ...this.current, ...draft, problems: [] };
  }

  /** Puts the picture aside as done and shows the next one at once; it can be taken back for a while. */
  async submit(draft: ObjectDraft, activeMs: number): Promise<void> {
    const picture = this.shown(draft);
    if (!picture) return;
    for (const slot of picture.slots) this.remember(slot, picture.returned, picture.history);
    await this.put(picture, activeMs);
  }

  /** Shows the picture before this one again; false when it is already on its way. */
  back(draft: ObjectDraft): Promise<boolean> {
    return this.takeBack(this.shown(draft));
  }

  /** Goes on here with what another window of this person has; its drafts are newer than what is on the screen. */
  takeHere(): Promise<void> {
    this.current = null;
    this.queue = [];
    this.set('loading');
    return this.takeAll();
  }

  /** The pictures that come next. */
  get upcoming(): readonly PictureGroup[] {
    return this.queue;
  }

  /** Gives the next picture objects of this one, where nothing is drawn on it yet. */
  propagate(copies: Clipboard): boolean {
    const [next, ...rest] = this.queue;
    const slot = next?.slots[0];
    if (!next || !slot || objectsOf(next.document).length > 0) return false;
    const draft = { document: addClip(next.document, copies), history: next.history };
    this.queue = [{ ...next, ...draft }, ...rest];
    this.drafts.set(slot, this.local.set(slot.id, draft), draft);
    return true;
  }
}
