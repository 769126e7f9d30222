import { useCallback } from 'react';
import type { LeasedSlot } from '@/api/contract/labeling';
import type { Gone } from '../workspace/leases';
import { type TableParts, useTable } from '../workspace/useTable';
import { ObjectBench } from './objectBench';
import { objectApi } from './queries';

/** Pictures that are leased at once. */
const LEASED_AT_ONCE = 8;

export interface ObjectBenchHooks {
  onLost: (slots: LeasedSlot[], lease: Gone) => void;
  onBroughtBack: (count: number) => void;
  preload: (slots: LeasedSlot[]) => void;
}

/** Opens the labeler's table for a task in which objects are drawn; the hooks must be stable. */
export function useObjectBench(taskId: string, batchSize: number, hooks: ObjectBenchHooks) {
  const { onLost, onBroughtBack, preload } = hooks;
  const make = useCallback(
    ({ pageId, ...parts }: TableParts) =>
      new ObjectBench({
        ...parts,
        api: objectApi(taskId, pageId),
        batchSize: Math.min(batchSize, LEASED_AT_ONCE),
        onLost,
        onBroughtBack,
        preload,
      }),
    [taskId, batchSize, onLost, onBroughtBack, preload],
  );
  return useTable(taskId, make);
}
