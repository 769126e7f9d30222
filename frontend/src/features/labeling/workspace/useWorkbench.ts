import { useCallback } from 'react';
import type { LeasedSlot } from '@/api/contract/labeling';
import { workbenchApi } from '../queries';
import type { Gone } from './leases';
import { preloadTiles } from './preload';
import { type TableParts, useTable } from './useTable';
import { Workbench } from './workbench';

/** Opens the labeler's table for a task that is done in a grid. */
export function useWorkbench(taskId: string, batchSize: number, onLost: (slots: LeasedSlot[], lease: Gone) => void) {
  const make = useCallback(
    ({ pageId, ...parts }: TableParts) =>
      new Workbench({ ...parts, api: workbenchApi(taskId, pageId), batchSize, preload: preloadTiles, onLost }),
    [taskId, batchSize, onLost],
  );
  return useTable(taskId, make);
}
