import { $api } from '@/api/client';
import { useProject } from '@/shared/domain/project';

const POLL_MS = 15_000;

/** One answer for the whole page; polled, since it gathers things of four apps. */
export function useOverview() {
  const project = useProject();
  const init = { params: { path: { project } } };
  return $api.useQuery('get', '/api/v1/projects/{project}/overview/', init, { refetchInterval: POLL_MS });
}
