import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { RunComment } from '@/api/contract/jobs';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

const COMMENTS = '/api/v1/runs/{run_id}/comments/';
const ONE = '/api/v1/runs/{run_id}/comments/{comment_id}/';
/** For a socket that is away; it tells of new ones. */
const POLL_MS = 30_000;

export function useComments(run: string) {
  const query = $api.useInfiniteQuery(
    'get',
    COMMENTS,
    { params: { path: { run_id: run }, query: { limit: 100 } } },
    { ...KEYSET, refetchInterval: POLL_MS },
  );
  return useKeysetRows<RunComment>(query);
}

/** Members whose names begin like what is typed after an @. */
export function useNamed(typed: string | null) {
  const project = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/members/',
    { params: { path: { project }, query: { q: typed ?? '', limit: 6 } } },
    { enabled: typed !== null && typed !== '', staleTime: 60_000, retry: false },
  );
}

/** Writes, changes and removes comments, then reads the thread again. */
export function useCommenting(run: string) {
  const client = useQueryClient();
  const again = () => client.invalidateQueries({ queryKey: keyOf(COMMENTS) });
  return {
    add: async (text: string) => {
      const header = { 'Idempotency-Key': crypto.randomUUID() };
      await api.POST(COMMENTS, { params: { path: { run_id: run }, header }, body: { text } });
      await again();
    },
    edit: async (comment: string, text: string) => {
      await api.PATCH(ONE, { params: { path: { run_id: run, comment_id: comment } }, body: { text } });
      await again();
    },
    remove: async (comment: string) => {
      await api.DELETE(ONE, { params: { path: { run_id: run, comment_id: comment } } });
      await again();
    },
  };
}
