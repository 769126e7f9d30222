import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useState } from 'react';
import type { LeasedSlot } from '@/api/contract/labeling';
import { useMe } from '@/shared/me';
import { OVERVIEW_KEY, TASK_KEY, TASKS_KEY, workbenchApi } from '../queries';
import { type KeyValue, openStore } from './kv';
import { type Gone, HEARTBEAT_MS } from './leases';
import { Workbench } from './workbench';

/** Decoded before they are shown, so that Enter shows the next batch at once. */
function preload(slots: LeasedSlot[]): void {
  for (const slot of slots) {
    const image = new Image();
    image.src = slot.thumb_url ?? slot.media_url;
    void image.decode?.().catch(() => {}); // A broken image is shown as one by its tile.
  }
}

/** Opens the labeler's table for a task and keeps its leases alive while the page is open. */
export function useWorkbench(taskId: string, batchSize: number, onLost: (slots: LeasedSlot[], lease: Gone) => void) {
  const [bench, setBench] = useState<Workbench | null>(null);
  const client = useQueryClient();
  const me = useMe()?.id;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (me === undefined) return;
    let opened: Workbench | null = null;
    let closed = false;
    const onCounts = () => {
      for (const queryKey of [TASK_KEY, TASKS_KEY, OVERVIEW_KEY]) void client.invalidateQueries({ queryKey });
    };
    void openStore('atom-labeling').then((store: KeyValue) => {
      if (closed) return;
      const api = workbenchApi(taskId);
      const kept = { store, person: me, task: taskId };
      opened = new Workbench({ ...kept, api, batchSize, preload, onCounts, onLost, onChange: redraw });
      setBench(opened);
      void opened.start();
    });
    const beat = setInterval(() => void opened?.heartbeat(), HEARTBEAT_MS);
    const online = () => opened?.online();
    const blur = () => void opened?.drafts.send();
    const hidden = () => opened?.pageHidden();
    window.addEventListener('online', online);
    window.addEventListener('pagehide', hidden);
    window.addEventListener('blur', blur);
    return () => {
      closed = true;
      clearInterval(beat);
      window.removeEventListener('online', online);
      window.removeEventListener('pagehide', hidden);
      window.removeEventListener('blur', blur);
      void opened?.leave();
      opened?.stop();
    };
  }, [client, me, taskId, batchSize, onLost]);
  return bench;
}
