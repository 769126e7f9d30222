import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { $api, api, keyOf } from '@/api/client';
import type { CommitRequest } from '@/api/contract/datasets';
import { asApiError } from '@/api/errors';
import i18n from '@/i18n';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';
import { untilDone } from '@/shared/live/untilDone';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useRefresh } from '../operationQueries';
import { useDismiss } from './dismissals';
import type { Operation, Progressing } from './operation';

const OPERATIONS = '/api/v1/projects/{project}/datasets/{dataset}/operations/';
const CANCEL = '/api/v1/projects/{project}/datasets/{dataset}/commits/{commit_id}/cancel/';

const OTHERS_POLL_MS = 5000;

const NEVER = new Promise<never>(() => {});

function useFollowing(dataset: string, isHeard: () => boolean): Operation {
  const path = { project: useProject(), dataset };
  const client = useQueryClient();
  const refresh = useRefresh();
  const dismiss = useDismiss(dataset);
  const [running, setRunning] = useState<Progressing>();
  const follow = async (asked: CommitRequest) => {
    void client.invalidateQueries({ queryKey: keyOf(OPERATIONS) });
    try {
      return await untilDone(path, asked, setRunning);
    } finally {
      // Asked before the refresh, which may take the dialog of a version away with that version.
      const heard = isHeard();
      if (heard) await dismiss.one(asked.id);
      await refresh();
      setRunning(undefined);
      if (!heard) await NEVER;
    }
  };
  const cancelIt = useCancel(dataset);
  // How it ended is seen by whoever follows it.
  const cancel = () => running && void cancelIt(running.id).then((data) => data && setRunning(data));
  return { running, follow, cancel };
}

/** An operation whose end is told wherever the person is by then. */
export const useOperation = (dataset: string): Operation => useFollowing(dataset, () => true);

/** An operation of a dialog: once that is closed, the dataset's page tells how it ended, and the dialog no more. */
export function useDialogOperation(dataset: string): Operation {
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  return useFollowing(dataset, () => isOpen.current);
}

/** Stops an operation; what forbids it is told as a notice. */
export function useCancel(dataset: string) {
  const path = { project: useProject(), dataset };
  const client = useQueryClient();
  return async (id: string): Promise<CommitRequest | undefined> => {
    try {
      const { data } = await api.POST(CANCEL, { params: { path: { ...path, commit_id: id } } });
      return data;
    } catch (error) {
      notifyError(error);
    } finally {
      void client.invalidateQueries({ queryKey: keyOf(OPERATIONS) });
    }
  };
}

/** Operations on a dataset for anybody, running and recently ended, newest first. */
export function useOperationsOfNow(dataset: string) {
  const poll = usePollMs();
  const init = { params: { path: { project: useProject(), dataset } } };
  return $api.useQuery('get', OPERATIONS, init, { refetchInterval: poll(OTHERS_POLL_MS) }).data?.results ?? [];
}

/** Says that an operation was cancelled, which is no failure; what else was thrown is thrown again. */
export function tellIfCancelled(thrown: unknown): void {
  if (asApiError(thrown).code !== 'commit_cancelled') throw thrown;
  notifySuccess(i18n.t('versioning.cancelled'));
}
