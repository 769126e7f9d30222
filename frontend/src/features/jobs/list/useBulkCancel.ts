import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunShort } from '@/api/contract/jobs';
import { confirmUndo, notifyError } from '@/shared/undo';
import { cancelRun, useRefreshRun } from '../queries';

/** Cancels runs one after the other, counting, when the time to undo is over; those that fail stay selected. */
export function useBulkCancel(onLeft: (ids: Set<string>) => void) {
  const { t } = useTranslation();
  const refresh = useRefreshRun();
  const [done, setDone] = useState<number | null>(null);
  const [asked, setAsked] = useState(false);
  const send = async (runs: RunShort[]) => {
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
    setAsked(false);
    onLeft(failed);
    refresh();
    if (failed.size > 0) notifyError(lastError);
  };
  const cancel = (runs: RunShort[]) => {
    setAsked(true);
    confirmUndo({
      message: t('jobs.cancelledCount', { count: runs.length }),
      commit: () => send(runs),
      rollback: () => setAsked(false),
    });
  };
  return { cancel, asked, done };
}
