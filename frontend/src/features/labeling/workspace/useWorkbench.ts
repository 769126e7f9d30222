import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useState } from 'react';
import type { LeasedSlot } from '@/api/contract/labeling';
import { useMe } from '@/shared/domain/me';
import { OVERVIEW_KEY, TASK_KEY, TASKS_KEY, WAITING_KEY, workbenchApi } from '../queries';
import { type KeyValue, openStore } from './kv';
import { type Gone, HEARTBEAT_MS } from './leases';
import { holdOpen, isOpen, newPageId, type PageId } from './pageId';
import { Workbench } from './workbench';

/** Decoded before they are shown, so that Enter shows the next batch at once. */
function preload(slots: LeasedSlot[]): void {
  for (const slot of slots) {
    const image = new Image();
    image.src = slot.thumb_url ?? slot.media_url;
    void image.decode?.().catch(() => {}); // A broken image is shown as one by its tile.
  }
}

export interface OpenBench {
  bench: Workbench;
  page: PageId;
}

/** Opens the labeler's table for a task and keeps its leases alive while the page is open. */
export function useWorkbench(taskId: string, batchSize: number, onLost: (slots: LeasedSlot[], lease: Gone) => void) {
  const [open, setOpen] = useState<OpenBench | null>(null);
  const client = useQueryClient();
  const me = useMe()?.id;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (me === undefined) return;
    let opened: Workbench | null = null;
    let closed = false;
    let close = () => {};
    const onCounts = () => {
      for (const queryKey of [TASK_KEY, TASKS_KEY, OVERVIEW_KEY, WAITING_KEY])
        void client.invalidateQueries({ queryKey });
    };
    void openStore('atom-labeling').then((store: KeyValue) => {
      if (closed) return;
      const page = newPageId();
      close = holdOpen(page.id);
      const api = workbenchApi(taskId, page);
      const kept = { store, person: me, task: taskId, page: page.id, isOpen };
      opened = new Workbench({ ...kept, api, batchSize, preload, onCounts, onLost, onChange: redraw });
      setOpen({ bench: opened, page });
      void opened.start();
    });
    const beat = setInterval(() => void opened?.heartbeat(), HEARTBEAT_MS);
    const online = () => opened?.online();
    const blur = () => void opened?.drafts.send();
    const hidden = () => opened?.pageHidden();
    // Back from another tab, or from the browser's cache of pages that were left: what is ours still is renewed.
    const shown = () => {
      if (document.visibilityState === 'visible') void opened?.returned();
      else void opened?.drafts.send();
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
      close();
    };
  }, [client, me, taskId, batchSize, onLost]);
  return open;
}
