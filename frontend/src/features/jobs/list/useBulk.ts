import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useProject } from '@/shared/domain/project';
import { confirmUndo, notifyError, notifySuccess, notifyWarning } from '@/shared/ui/undo';
import { changeRuns, type ManyRuns, useRefreshLists } from './listQueries';

/** Changes many runs when the time to undo is over; archived ones are hidden at once. */
export function useBulk(onLeft: (ids: Set<string>) => void) {
  const { t } = useTranslation();
  const project = useProject();
  const refresh = useRefreshLists();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<ManyRuns | null>(null);

  const send = async (what: ManyRuns, ids: string[]) => {
    try {
      const { changed, refused } = await changeRuns(project, what, ids);
      // Somebody else was first.
      const same = ids.length - changed.length - refused.length;
      onLeft(new Set(refused.map(({ run }) => run)));
      if (refused.length > 0) notifyWarning(t('runs.refused', { count: refused.length }));
      if (same > 0) notifyWarning(t('runs.unchanged', { count: same }));
      if (what === 'restore' && changed.length > 0) notifySuccess(t('runs.restored', { count: changed.length }));
    } catch (error) {
      notifyError(error);
    } finally {
      setAsked(null);
      setHidden(new Set());
      refresh();
    }
  };
  const later = (what: 'cancel' | 'archive', ids: string[]) => {
    setAsked(what);
    if (what === 'archive') setHidden(new Set(ids));
    const count = ids.length;
    confirmUndo({
      message: what === 'cancel' ? t('jobs.cancelledCount', { count }) : t('runs.archived', { count }),
      commit: () => send(what, ids),
      rollback: () => {
        setAsked(null);
        setHidden(new Set());
      },
    });
  };
  /** To bring back is itself an undo: it is done at once. */
  const restore = async (ids: string[]) => {
    setAsked('restore');
    await send('restore', ids);
  };
  return {
    asked,
    hidden,
    cancel: (ids: string[]) => later('cancel', ids),
    archive: (ids: string[]) => later('archive', ids),
    restore: (ids: string[]) => void restore(ids),
  };
}
