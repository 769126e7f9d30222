import { useState } from 'react';
import { api } from '@/api/client';
import type { CommitRequest } from '@/api/contract/datasets';
import { ApiError, asApiError } from '@/api/errors';
import i18n from '@/i18n';
import { listenFor } from '@/shared/live/projectLive';
import { useProject } from '@/shared/project';
import { notifyError, notifySuccess } from '@/shared/undo';
import { useRefresh } from '../operationQueries';

const COMMIT = '/api/v1/projects/{project}/datasets/{dataset}/commits/{commit_id}/';
const CANCEL = '/api/v1/projects/{project}/datasets/{dataset}/commits/{commit_id}/cancel/';

const POLL_MS = 400;
/** An event may get lost: what is pushed is asked for again now and then. */
const SAFETY_MS = 5000;

type Path = { project: string; dataset: string };

const isRunning = ({ state }: CommitRequest) => state === 'pending' || state === 'building';

/** Follows a request to its end, telling each step; what it ended with is thrown as any other failure. */
export async function untilDone(
  path: Path,
  asked: CommitRequest,
  onStep?: (request: CommitRequest) => void,
): Promise<CommitRequest> {
  let request = asked;
  const events = listenFor(request.id);
  try {
    // Most are done by the first look; from then on, the server says when to look again.
    for (let wait = POLL_MS; isRunning(request); wait = SAFETY_MS) {
      onStep?.(request);
      await events.next(POLL_MS, wait);
      const { data } = await api.GET(COMMIT, { params: { path: { ...path, commit_id: request.id } } });
      request = data as CommitRequest;
    }
  } finally {
    events.stop();
  }
  const { error } = request;
  if (error) throw new ApiError({ status: 409, title: '', ...error });
  return request;
}

/** What the server does to a dataset for a dialog: how far it is, and a way to stop it. */
export interface Operation {
  /** The request as it was seen last; undefined while nothing runs. */
  running: CommitRequest | undefined;
  /** Follows a request to its end, and has what changed shown. */
  follow: (asked: CommitRequest) => Promise<CommitRequest>;
  cancel: () => void;
}

export function useOperation(dataset: string): Operation {
  const path = { project: useProject(), dataset };
  const refresh = useRefresh();
  const [running, setRunning] = useState<CommitRequest>();
  const follow = async (asked: CommitRequest) => {
    try {
      return await untilDone(path, asked, setRunning);
    } finally {
      await refresh();
      setRunning(undefined);
    }
  };
  const cancel = () => {
    if (!running) return;
    const params = { path: { ...path, commit_id: running.id } };
    // How it ended is seen by whoever follows it.
    api.POST(CANCEL, { params }).then(({ data }) => data && setRunning(data), notifyError);
  };
  return { running, follow, cancel };
}

/** Says that an operation was cancelled, which is no failure; what else was thrown is thrown again. */
export function tellIfCancelled(thrown: unknown): void {
  if (asApiError(thrown).code !== 'commit_cancelled') throw thrown;
  notifySuccess(i18n.t('versioning.cancelled'));
}
