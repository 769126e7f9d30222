import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import { addClip, type Clipboard } from '../canvas/edits';
import { type DocumentV2, objectsOf } from '../canvas/model';
import type { SlotGroup } from '../workspace/batches';
import type { Drafted } from '../workspace/localDrafts';
import type { WorkbenchOptions } from '../workspace/workbenchOptions';
import { WorkTable } from '../workspace/workTable';
import { canonical, documentOfSlot } from './documents';

/** A document under work, and what undo needs. */
export interface ObjectDraft {
  document: DocumentV2;
  /** The editor's steps, as it writes them. */
  history: unknown;
}

/** A fault of a document that the server refused. */
export interface DocumentProblem {
  /** A pointer into the document, such as `objects/3/box`. */
  pointer: string;
  texts: string[];
  at: [x: number, y: number] | null;
}

/** An answer to a submitted document; `problems` are those for which it was refused. */
export type ObjectResult = SubmitResult & { problems?: DocumentProblem[] };

/** One picture on the table. */
export interface PictureGroup extends SlotGroup, ObjectDraft {
  problems: DocumentProblem[];
}

export interface ObjectBenchOptions extends WorkbenchOptions<ObjectDraft> {
  /** Documents came back from the server: it takes them not as they are. */
  onBroughtBack?: (count: number) => void;
}

const LOCAL_MS = 2000;
const SERVER_MS = 15_000;
const HOLD_MS = 30_000;
/** Pictures that are fetched before they are shown. */
export const PICTURES_AHEAD = 3;

/** The table of drawn objects: one picture after another, each with its document. */
export class ObjectBench extends WorkTable<PictureGroup, ObjectDraft> {
  private readonly broughtBack: (count: number) => void;
  /** Pictures that were submitted here, for those that come back. */
  private readonly submittedSlots = new Map<string, PictureGroup>();

  constructor(options: ObjectBenchOptions) {
    super(
      { localMs: LOCAL_MS, draftMs: SERVER_MS, holdMs: HOLD_MS, ...options },
      { packing: DOCUMENT_PACKING, ahead: PICTURES_AHEAD, steady: true },
    );
    this.broughtBack = options.onBroughtBack ?? (() => {});
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
    const { newKey = () => crypto.randomUUID() as string } = this.options;
    return slots.map(({ id, lease_no }) => ({
      slot: id,
      lease_no,
      idempotency_key: newKey(),
      document: canonical(document) as unknown as Submission['document'],
      active_ms: Math.round(activeMs),
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
    this.submittedSlots.set(picture.id, picture);
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

  protected override answered(results: ObjectResult[], submissions: readonly Submission[]): void {
    const invalid = results.filter(({ ok, problems }) => !ok && problems);
    for (const { slot, problems = [] } of invalid) this.bringBack(slot, problems, submissions);
    if (invalid.length > 0) this.broughtBack(invalid.length);
    super.answered(
      results.filter((result) => !invalid.includes(result)),
      submissions,
    );
    if (invalid.length > 0 && this.state === 'empty') void this.orFail(() => this.next());
  }

  /** A refused document comes next; it is a draft again before anything else happens. */
  private bringBack(slotId: string, problems: DocumentProblem[], submissions: readonly Submission[]): void {
    const document = submissions.find(({ slot }) => slot === slotId)?.document as DocumentV2 | undefined;
    if (!document) return;
    const before = this.submittedSlots.get(slotId);
    const draft = { document, history: before?.history ?? null };
    this.local.restore(slotId, draft);
    if (!before) return; // From an earlier visit: it is taken up with its draft.
    this.submitted -= 1;
    this.queue.unshift({ ...before, ...draft, problems });
  }
}

const DOCUMENT_PACKING = {
  ofServer: (slot: LeasedSlot): ObjectDraft => ({ document: documentOfSlot(slot), history: null }),
  pack: ({ document, history }: ObjectDraft) => ({ document, history }),
  unpack: (entry: object): ObjectDraft => {
    const { document, history } = entry as ObjectDraft;
    return { document, history: history ?? null };
  },
};
