import type { LeasedSlot, Submission } from '@/api/contract/labeling';
import { type DocumentV2, emptyDocument } from '../canvas/model';
import type { SlotGroup } from '../workspace/batches';
import { type Labels, labelsOf } from '../workspace/grid';
import type { GridBench } from '../workspace/gridBench';
import type { Drafted } from '../workspace/localDrafts';
import {
  DOCUMENT_PACKING,
  DocumentTable,
  type DocumentTableOptions,
  type ObjectDraft,
  type RefusedDocument,
} from './documentTable';

/** Pictures of a grid, with the document of each: it keeps the values that the grid does not show. */
export interface ClassBatch extends SlotGroup {
  labels: Labels;
  preset: number | null;
  documents: ReadonlyMap<string, DocumentV2>;
  refusals: readonly string[];
}

export interface ClassBenchOptions extends DocumentTableOptions {
  /** The document to submit, by the ontology as it is now. */
  clean: (document: DocumentV2) => DocumentV2;
}

interface Opened {
  slot: LeasedSlot;
  document: DocumentV2;
}

/** The table of a grid whose pictures can have several classes: each answer is a document. */
export class ClassBench extends DocumentTable<ClassBatch> implements GridBench {
  private readonly clean: (document: DocumentV2) => DocumentV2;

  constructor({ clean, ...options }: ClassBenchOptions) {
    super(options, 1);
    this.clean = clean;
  }

  protected groupsOf(
    slots: LeasedSlot[],
    drafted: ReadonlyMap<string, Drafted<ObjectDraft>>,
    returned: boolean,
  ): ClassBatch[] {
    const { batchSize } = this.options;
    const opened = slots.map((slot) => ({
      slot,
      document: (drafted.get(slot.id)?.value ?? DOCUMENT_PACKING.ofServer(slot)).document,
    }));
    const starts = Array.from({ length: Math.ceil(opened.length / batchSize) }, (_, batch) => batch * batchSize);
    return starts.map((start) => batchOf(opened.slice(start, start + batchSize), returned, []));
  }

  protected groupsOfRefused(refused: RefusedDocument[]): ClassBatch[] {
    const opened = refused.map(({ slot, draft: { document } }) => ({ slot, document }));
    const isReturned = refused.some(({ returned }) => returned);
    return [
      batchOf(opened, isReturned, [
        ...new Set(refused.flatMap(({ problems }) => problems.flatMap(({ texts }) => texts))),
      ]),
    ];
  }

  protected submissionsOf(batch: ClassBatch, activeMs: number): Submission[] {
    const each = activeMs / Math.max(1, batch.slots.length);
    return batch.slots.map((slot) =>
      this.submissionOf(slot, this.clean(withClasses(batch, slot.id, labelsOf(batch, slot.id))), each),
    );
  }

  protected withSlot(batch: ClassBatch | null, slot: LeasedSlot): ClassBatch {
    const { document } = DOCUMENT_PACKING.ofServer(slot);
    const alone = batchOf([{ slot, document }], false, []);
    if (!batch) return alone;
    const { [slot.id]: _before, ...labels } = batch.labels;
    return {
      ...batch,
      slots: [...batch.slots, slot],
      labels: { ...labels, ...alone.labels },
      documents: new Map([...batch.documents, ...alone.documents]),
    };
  }

  async submit(labels: Labels, preset: number | null, activeMs: number): Promise<void> {
    if (!this.current) return;
    const batch = { ...this.current, labels, preset, refusals: [] };
    for (const slot of batch.slots) this.remember(slot, batch.returned, null);
    await this.put(batch, activeMs);
  }

  back(labels: Labels, preset: number | null): Promise<boolean> {
    return this.takeBack(this.current && { ...this.current, labels, preset });
  }

  choose(slotId: string, labels: readonly number[] | null): void {
    if (!this.current) return;
    // The steps of the drawn view would undo to other classes than these.
    this.draft(slotId, { document: withClasses(this.current, slotId, labels ?? []), history: null });
  }
}

function batchOf(opened: readonly Opened[], returned: boolean, refusals: readonly string[]): ClassBatch {
  const chosen = opened.flatMap(({ slot, document: { labels = [] } }): [string, readonly number[]][] =>
    labels.length > 0 ? [[slot.id, labels]] : [],
  );
  return {
    id: opened[0]?.slot.id ?? '',
    slots: opened.map(({ slot }) => slot),
    labels: Object.fromEntries(chosen),
    documents: new Map(opened.map(({ slot, document }) => [slot.id, document])),
    preset: null,
    returned,
    refusals,
  };
}

/** The document of a picture with these classes, in the order of their ids. */
function withClasses({ documents }: ClassBatch, slotId: string, labels: readonly number[]): DocumentV2 {
  const document = documents.get(slotId) ?? emptyDocument(0, 0);
  return { ...document, labels: [...labels].sort((a, b) => a - b) };
}
