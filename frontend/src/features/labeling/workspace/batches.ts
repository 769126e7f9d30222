import type { LeasedSlot, Submission } from '@/api/contract/labeling';
import { type Labels, labelsOf } from './grid';
import type { Drafted } from './localDrafts';

/** Images that are on the screen together. */
export interface SlotGroup {
  id: string;
  slots: LeasedSlot[];
  /** Work that an auditor has sent back. */
  returned: boolean;
}

/** Images of a grid, and the classes of each. */
export interface Batch extends SlotGroup {
  labels: Labels;
  preset: number | null;
}

/** A submitted batch that can still be taken back. */
export interface HeldBatch<B extends SlotGroup = Batch> {
  batch: B;
  submissions: Submission[];
  timer: ReturnType<typeof setTimeout>;
}

/** The images in batches of `size`, each with the classes that were chosen for it before. */
export function batchesOf(
  slots: LeasedSlot[],
  drafted: ReadonlyMap<string, Drafted<number | null>>,
  { size, returned }: { size: number; returned: boolean },
): Batch[] {
  const batches: Batch[] = [];
  for (let at = 0; at < slots.length; at += size) {
    const part = slots.slice(at, at + size);
    const chosen = part.flatMap(({ id }): [string, readonly number[]][] => {
      const label = drafted.get(id)?.value ?? null;
      return label === null ? [] : [[id, [label]]];
    });
    batches.push({
      id: part[0]?.id ?? '',
      slots: part,
      labels: Object.fromEntries(chosen),
      preset: null,
      returned,
    });
  }
  return batches;
}

/** The submissions of a batch: its own class or the preset for each image, and a share of the time. */
export function submissionsOf(
  batch: Batch,
  activeMs: number,
  newKey = () => crypto.randomUUID() as string,
): Submission[] {
  const each = Math.round(activeMs / Math.max(1, batch.slots.length));
  return batch.slots.map((slot) => ({
    slot: slot.id,
    lease_no: slot.lease_no,
    idempotency_key: newKey(),
    label_id: labelsOf(batch, slot.id)[0] as number,
    active_ms: each,
  }));
}

export function without<B extends SlotGroup>(batch: B, ids: ReadonlySet<string>): B {
  return { ...batch, slots: batch.slots.filter(({ id }) => !ids.has(id)) };
}

/** The images of batches, some of which may not be there. */
export const idsOf = (batches: readonly (SlotGroup | null | undefined)[]): ReadonlySet<string> =>
  new Set(batches.flatMap((batch) => batch?.slots ?? []).map(({ id }) => id));
