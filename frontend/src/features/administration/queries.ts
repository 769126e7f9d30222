import { useQueryClient } from '@tanstack/react-query';
import { $api, keyOf } from '@/api/client';
import type { AuditQuery } from '@/api/contract/accounts';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

const AUDIT = '/api/v1/audit/';
const GARBAGE = '/api/v1/projects/{project}/garbage-runs/';
const PARDON = '/api/v1/projects/{project}/garbage-runs/{garbage_run_id}/pardon/';
const PAGE = 50;
const RUNNING_POLL_MS = 2000;
const HEALTH_POLL_MS = 10_000;

export function useAuditEvents(filter: AuditQuery) {
  const init = { params: { query: { ...filter, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', AUDIT, init, KEYSET));
}

/** Asked again and again while the page is open: it is there to be watched. */
export const useHealth = () => $api.useQuery('get', '/api/v1/health/', {}, { refetchInterval: HEALTH_POLL_MS });

/** Polls while a run is under way. */
export function useGarbageRuns() {
  const project = useProject();
  const init = { params: { path: { project }, query: { limit: PAGE } } };
  const query = $api.useInfiniteQuery('get', GARBAGE, init, {
    ...KEYSET,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ results }) => results.some(({ state: one }) => one === 'running'))
        ? RUNNING_POLL_MS
        : false,
  });
  return useKeysetRows(query);
}

export function useStartGarbage() {
  const project = useProject();
  const refresh = useRefreshGarbage();
  const mutation = $api.useMutation('post', GARBAGE, { onSuccess: refresh });
  return {
    ...mutation,
    start: (is_dry_run: boolean) => mutation.mutateAsync({ params: { path: { project } }, body: { is_dry_run } }),
  };
}

export function usePardonGarbage() {
  const project = useProject();
  const refresh = useRefreshGarbage();
  const mutation = $api.useMutation('post', PARDON, { onSuccess: refresh });
  return {
    ...mutation,
    pardon: (garbage_run_id: string) => mutation.mutateAsync({ params: { path: { project, garbage_run_id } } }),
  };
}

function useRefreshGarbage() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: keyOf(GARBAGE) });
}
