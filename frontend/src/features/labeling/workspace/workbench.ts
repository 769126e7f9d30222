import type { LeasedSlot } from '@/api/contract/labeling';
import { type Batch, batchesOf, submissionsOf } from './batches';
import type { Labels } from './grid';
import type { GridBench } from './gridBench';
import { CLASS_PACKING, type Drafted } from './localDrafts';
import type { WorkbenchOptions } from './workbenchOptions';
import { WorkTable } from './workTable';

export type { WorkState } from './workTable';

/** The table of a grid: a class for each image of a batch. */
export class Workbench extends WorkTable<Batch, number | null> implements GridBench {
  constructor(options: WorkbenchOptions) {
    super(options, { packing: CLASS_PACKING, ahead: 1 });
  }

  protected groupsOf(
    slots: LeasedSlot[],
    drafted: ReadonlyMap<string, Drafted<number | null>>,
    returned: boolean,
  ): Batch[] {
    return batchesOf(slots, drafted, { size: this.options.batchSize, returned });
  }

  protected submissionsOf(batch: Batch, activeMs: number) {
    return submissionsOf(batch, activeMs, this.options.newKey);
  }

  protected withSlot(batch: Batch | null, slot: LeasedSlot): Batch {
    if (batch) {
      const { [slot.id]: _dropped, ...labels } = batch.labels;
      return { ...batch, labels, slots: [...batch.slots, slot] };
    }
    return { id: slot.id, slots: [slot], labels: {}, preset: null, returned: false };
  }

  /** Puts the batch aside as done and shows the next one at once; it can be taken back for a while. */
  async submit(labels: Labels, preset: number | null, activeMs: number): Promise<void> {
    if (this.current) await this.put({ ...this.current, labels, preset }, activeMs);
  }

  /** Takes the last batch back; false when it is already on its way. */
  back(labels: Labels, preset: number | null): Promise<boolean> {
    return this.takeBack(this.current && { ...this.current, labels, preset });
  }

  choose(slotId: string, labels: readonly number[] | null): void {
    this.draft(slotId, labels?.[0] ?? null);
  }
}
