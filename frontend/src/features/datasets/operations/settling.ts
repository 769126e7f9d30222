import type { MergeConflict, OperationPreview, Resolution, Side, Take } from '@/api/contract/datasets';

/** Whose side counts where both changed: for all (`fail` while nobody has said), and for single conflicts. */
export interface Settling {
  on_conflict: Side;
  sides: Readonly<Record<string, Take>>;
}

export const UNSETTLED: Settling = { on_conflict: 'fail', sides: {} };

type Found = Pick<OperationPreview, 'conflicts' | 'conflicts_total'>;

/** The key of a conflict: several of one path, where a file meets a folder, are settled together. */
export const keyOf = ({ path, layer, field }: MergeConflict) => JSON.stringify([path, layer, field]);

/** Whose side counts in a conflict, undefined while nobody has said. */
export function sideOf({ on_conflict, sides }: Settling, conflict: MergeConflict): Take | undefined {
  return sides[keyOf(conflict)] ?? (on_conflict === 'fail' ? undefined : on_conflict);
}

/** How many conflicts are settled; those that are not shown can only be settled all at once. */
export function countSettled(settling: Settling, { conflicts, conflicts_total }: Found): number {
  const hidden = settling.on_conflict === 'fail' ? 0 : conflicts_total - conflicts.length;
  return hidden + conflicts.filter((conflict) => sideOf(settling, conflict)).length;
}

/** The resolutions of the conflicts that were seen, each named unless the side for all is the same. */
export function resolutionsOf(settling: Settling, { conflicts }: Found): Resolution[] {
  const named = new Map<string, Resolution>();
  for (const conflict of conflicts) {
    const take = sideOf(settling, conflict);
    const { path, layer, field } = conflict;
    if (take && take !== settling.on_conflict) named.set(keyOf(conflict), { path, layer, field, take });
  }
  return [...named.values()];
}
