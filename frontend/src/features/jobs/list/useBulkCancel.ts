import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunShort } from '@/api/contract/jobs';
import { notifyError, notifySuccess } from '@/shared/undo';
import { cancelRun, useRefreshRun } from '../queries';

/** Cancels runs one after the other, counting; those that fail stay selected. */
export function useBulkCancel(onLeft: (ids: Set<string>) => void) {
  const { t } = useTranslation();
  const refresh = useRefreshRun();
  const [done, setDone] = useState<number | null>(null);
  const cancel = async (runs: RunShort[]) => {
    const failed = new Set<string>();
    let lastError: unknown;
    for (const [index, run] of runs.entries()) {
      setDone(index);
      try {
        await cancelRun(run.id);
      } catch (error) {
        failed.add(run.id);
        lastError = error;
      }
    }
    setDone(null);
    onLeft(failed);
    refresh();
    if (failed.size < runs.length) notifySuccess(t('jobs.cancelledCount', { count: runs.length - failed.size }));
    if (failed.size > 0) notifyError(lastError);
  };
  return { cancel, done };
}
