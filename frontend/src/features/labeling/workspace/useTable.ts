import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useState } from 'react';
import { useMe } from '@/shared/domain/me';
import { OVERVIEW_KEY, TASK_KEY, TASKS_KEY, WAITING_KEY } from '../queries';
import { openStore } from './kv';
import { HEARTBEAT_MS } from './leases';
import { holdOpen, isOpen, newPageId, type PageId } from './pageId';
import { openWindows } from './windows';
import type { WorkbenchOptions } from './workbenchOptions';

/** The parts of a table that do not depend on the kind of its work. */
export type TableParts = Pick<
  WorkbenchOptions,
  'store' | 'person' | 'task' | 'page' | 'isOpen' | 'onTaking' | 'onTaken' | 'onCounts' | 'onChange'
> & { pageId: PageId };

/** The calls that a page makes on its table. */
interface Table {
  start: () => Promise<void>;
  heartbeat: () => Promise<void>;
  returned: () => Promise<void>;
  online: () => void;
  keepDrafts: () => void;
  pageHidden: () => void;
  stop: () => void;
  leave: () => void;
}

export interface OpenTable<T> {
  bench: T;
  page: PageId;
}

/** Opens the labeler's table for a task and keeps its leases alive while the page is open; `make` must be stable. */
export function useTable<T extends Table>(taskId: string, make: (parts: TableParts) => T): OpenTable<T> | null {
  const [open, setOpen] = useState<OpenTable<T> | null>(null);
  const client = useQueryClient();
  const me = useMe()?.id;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (me === undefined) return;
    let opened: T | null = null;
    let closed = false;
    let close = () => {};
    const onCounts = () => {
      for (const queryKey of [TASK_KEY, TASKS_KEY, OVERVIEW_KEY, WAITING_KEY])
        void client.invalidateQueries({ queryKey });
    };
    const windows = openWindows(me, taskId, {
      taking: () => opened?.keepDrafts(),
      taken: () => void opened?.heartbeat(),
    });
    void openStore('atom-labeling').then((store) => {
      if (closed) return;
      const pageId = newPageId();
      close = holdOpen(pageId.id);
      const kept = { store, person: me, task: taskId, page: pageId.id, isOpen, pageId };
      const spoken = { onTaking: windows.taking, onTaken: windows.taken };
      opened = make({ ...kept, ...spoken, onCounts, onChange: redraw });
      setOpen({ bench: opened, page: pageId });
      void opened.start();
    });
    const beat = setInterval(() => void opened?.heartbeat(), HEARTBEAT_MS);
    const online = () => opened?.online();
    const blur = () => opened?.keepDrafts();
    const hidden = () => opened?.pageHidden();
    // Back from another tab, or from the browser's cache of pages that were left: what is ours still is renewed.
    const shown = () => {
      if (document.visibilityState === 'visible') void opened?.returned();
      else opened?.keepDrafts();
    };
    document.addEventListener('visibilitychange', shown);
    window.addEventListener('pageshow', shown);
    window.addEventListener('online', online);
    window.addEventListener('pagehide', hidden);
    window.addEventListener('blur', blur);
    return () => {
      closed = true;
      clearInterval(beat);
      document.removeEventListener('visibilitychange', shown);
      window.removeEventListener('pageshow', shown);
      window.removeEventListener('online', online);
      window.removeEventListener('pagehide', hidden);
      window.removeEventListener('blur', blur);
      opened?.stop();
      opened?.leave();
      windows.close();
      close();
    };
  }, [client, me, taskId, make]);
  return open;
}
