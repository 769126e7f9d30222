import { $api } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';

const ACTIVITY = '/api/v1/projects/{project}/datasets/{dataset}/activity/';
const PAGE = 50;
const POLL_MS = 15_000;

export function useActivity(dataset: string, kinds: readonly string[] | undefined, actor: string | undefined) {
  const project = useProject();
  const pollMs = usePollMs();
  const query = { kind: kinds?.join(','), actor, limit: PAGE };
  const init = { params: { path: { project, dataset }, query } };
  return useKeysetRows($api.useInfiniteQuery('get', ACTIVITY, init, { ...KEYSET, refetchInterval: pollMs(POLL_MS) }));
}
