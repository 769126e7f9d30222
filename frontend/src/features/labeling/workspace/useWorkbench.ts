import { useCallback } from 'react';
import type { LeasedSlot } from '@/api/contract/labeling';
import { workbenchApi } from '../queries';
import type { Gone } from './leases';
import { type TableParts, useTable } from './useTable';
import { Workbench } from './workbench';

/** Decoded before they are shown, so that Enter shows the next batch at once. */
function preload(slots: LeasedSlot[]): void {
  for (const slot of slots) {
    const image = new Image();
    image.src = slot.thumb_url ?? slot.media_url;
    void image.decode?.().catch(() => {}); // A broken image is shown as one by its tile.
  }
}

/** Opens the labeler's table for a task that is done in a grid. */
export function useWorkbench(taskId: string, batchSize: number, onLost: (slots: LeasedSlot[], lease: Gone) => void) {
  const make = useCallback(
    ({ pageId, ...parts }: TableParts) =>
      new Workbench({ ...parts, api: workbenchApi(taskId, pageId), batchSize, preload, onLost }),
    [taskId, batchSize, onLost],
  );
  return useTable(taskId, make);
}
