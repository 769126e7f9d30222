import { api } from '@/api/client';
import type { CommitRequest } from '@/api/contract/datasets';
import { ApiError } from '@/api/errors';
import { listenFor } from './projectLive';

const COMMIT = '/api/v1/projects/{project}/datasets/{dataset}/commits/{commit_id}/';
const POLL_MS = 400;
/** An event may get lost: what is pushed is asked for again now and then. */
const SAFETY_MS = 5000;

export const isRunning = ({ state }: Pick<CommitRequest, 'state'>) => state === 'pending' || state === 'building';

/** Follows a commit to its end, telling each step; what it ended with is thrown as any other failure. */
export async function untilDone(
  path: { project: string; dataset: string },
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
