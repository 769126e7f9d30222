import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import type { DocumentV2 } from '../canvas/model';
import type { SlotGroup } from '../workspace/batches';
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

/** A refused document that was submitted on this page, with its picture. */
export interface RefusedDocument {
  slot: LeasedSlot;
  returned: boolean;
  draft: ObjectDraft;
  problems: DocumentProblem[];
}

export interface DocumentTableOptions extends WorkbenchOptions<ObjectDraft> {
  /** Documents came back from the server: it takes them not as they are. */
  onBroughtBack?: (count: number) => void;
}

interface SubmittedPicture {
  slot: LeasedSlot;
  returned: boolean;
  history: unknown;
}

/** A table whose answers are documents of version 2: those that the server refuses come back. */
export abstract class DocumentTable<B extends SlotGroup> extends WorkTable<B, ObjectDraft> {
  private readonly broughtBack: (count: number) => void;
  /** Pictures that were submitted here, for those that come back. */
  private readonly submittedPictures = new Map<string, SubmittedPicture>();

  constructor(options: DocumentTableOptions, ahead: number) {
    super(options, { packing: DOCUMENT_PACKING, ahead, steady: true });
    this.broughtBack = options.onBroughtBack ?? (() => {});
  }

  /** The groups in which refused pictures are shown again, before all others. */
  protected abstract groupsOfRefused(refused: RefusedDocument[]): B[];

  /** Keeps a picture in mind until the server has answered. */
  protected remember(slot: LeasedSlot, returned: boolean, history: unknown): void {
    this.submittedPictures.set(slot.id, { slot, returned, history });
  }

  protected submissionOf({ id, lease_no }: LeasedSlot, document: DocumentV2, activeMs: number): Submission {
    const { newKey = () => crypto.randomUUID() as string } = this.options;
    return {
      slot: id,
      lease_no,
      idempotency_key: newKey(),
      document: canonical(document) as unknown as Submission['document'],
      active_ms: Math.round(activeMs),
    };
  }

  protected override answered(results: ObjectResult[], submissions: readonly Submission[]): void {
    const invalid = results.filter(({ ok, problems }) => !ok && problems);
    const refused = invalid.flatMap((result) => this.restore(result, submissions));
    this.submitted -= refused.length;
    if (refused.length > 0) this.queue.unshift(...this.groupsOfRefused(refused));
    if (invalid.length > 0) this.broughtBack(invalid.length);
    super.answered(
      results.filter((result) => !invalid.includes(result)),
      submissions,
    );
    if (invalid.length > 0 && this.state === 'empty') void this.orFail(() => this.next());
  }

  /** A refused document is a draft again before anything else happens. */
  private restore(
    { slot: slotId, problems = [] }: ObjectResult,
    submissions: readonly Submission[],
  ): RefusedDocument[] {
    const document = submissions.find(({ slot }) => slot === slotId)?.document as DocumentV2 | undefined;
    if (!document) return [];
    const before = this.submittedPictures.get(slotId);
    const draft = { document, history: before?.history ?? null };
    this.local.restore(slotId, draft);
    // A picture from an earlier visit is taken up with its draft.
    return before ? [{ slot: before.slot, returned: before.returned, draft, problems }] : [];
  }
}

export const DOCUMENT_PACKING = {
  ofServer: (slot: LeasedSlot): ObjectDraft => ({ document: documentOfSlot(slot), history: null }),
  pack: ({ document, history }: ObjectDraft) => ({ document, history }),
  unpack: (entry: object): ObjectDraft => {
    const { document, history } = entry as ObjectDraft;
    return { document, history: history ?? null };
  },
};
