import { useCallback, useRef } from 'react';
import type { LabelTask, LeasedSlot } from '@/api/contract/labeling';
import type { DocumentV2 } from '../canvas/model';
import type { Gone } from '../workspace/leases';
import { preloadTiles } from '../workspace/preload';
import { type TableParts, useTable } from '../workspace/useTable';
import { ClassBench } from './classBench';
import { ontologyOfTask, withoutUnasked } from './ontology';
import { objectApi } from './queries';

export interface ClassBenchHooks {
  onLost: (slots: LeasedSlot[], lease: Gone) => void;
  onBroughtBack: (count: number) => void;
}

/** Opens the labeler's table for a grid whose pictures can have several classes; the hooks must be stable. */
export function useClassBench(task: LabelTask, { onLost, onBroughtBack }: ClassBenchHooks) {
  const { id: taskId, batch_size: batchSize } = task;
  // Labels change while people work: the last ones count at submission.
  const latest = useRef(task);
  latest.current = task;
  const clean = useCallback((document: DocumentV2) => withoutUnasked(document, ontologyOfTask(latest.current)), []);
  const make = useCallback(
    ({ pageId, ...parts }: TableParts) =>
      new ClassBench({
        ...parts,
        api: objectApi(taskId, pageId),
        batchSize,
        preload: preloadTiles,
        onLost,
        onBroughtBack,
        clean,
      }),
    [taskId, batchSize, onLost, onBroughtBack, clean],
  );
  return useTable(taskId, make);
}
