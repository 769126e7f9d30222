import type { LeasedSlot } from '@/api/contract/labeling';
import type { Batch } from './batches';
import type { Labels } from './grid';
import type { ShownTable } from './shownTable';
import type { WorkState } from './workTable';

/** The table of a grid, whatever its answers look like. */
export interface GridBench extends ShownTable {
  /** Puts the batch aside as done and shows the next one at once. */
  submit: (labels: Labels, preset: number | null, activeMs: number) => Promise<void>;
  /** Takes the last batch back; false when it is already on its way. */
  back: (labels: Labels, preset: number | null) => Promise<boolean>;
  /** Keeps the classes of an image; null: it has none of its own. */
  choose: (slotId: string, labels: readonly number[] | null) => void;
  skip: (slotId: string, reason?: string) => Promise<LeasedSlot | null>;
  unskip: (slot: LeasedSlot) => Promise<void>;
}

/** A grid with the batch that is on the screen. */
export interface OpenGrid extends GridBench {
  readonly state: WorkState;
  readonly error: unknown;
  readonly retrying: boolean;
  readonly current: ShownBatch | null;
}

export interface ShownBatch extends Batch {
  /** The faults for which the server refused the answers, in its words. */
  refusals?: readonly string[];
}
