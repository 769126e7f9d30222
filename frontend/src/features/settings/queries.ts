import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { AuditQuery, NewS3Key, NewToken } from '@/api/contract/accounts';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/project';

const TOKENS = '/api/v1/tokens/';
const TOKEN = '/api/v1/tokens/{token_id}/';
const S3_KEYS = '/api/v1/s3-keys/';
const S3_KEY = '/api/v1/s3-keys/{s3_key_id}/';
const AUDIT = '/api/v1/audit/';
const GARBAGE = '/api/v1/projects/{project}/garbage-runs/';
const PARDON = '/api/v1/projects/{project}/garbage-runs/{garbage_run_id}/pardon/';
const PAGE = 50;
const RUNNING_POLL_MS = 2000;
const HEALTH_POLL_MS = 10_000;

export function useTokens() {
  return useKeysetRows($api.useInfiniteQuery('get', TOKENS, { params: { query: { limit: PAGE } } }, KEYSET));
}

export function useCreateToken() {
  const refresh = useRefreshTokens();
  const mutation = $api.useMutation('post', TOKENS, { onSuccess: refresh });
  return { ...mutation, create: (body: NewToken) => mutation.mutateAsync({ body }) };
}

export function useRefreshTokens() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: keyOf(TOKENS) });
}

export const revokeToken = (id: string) => api.DELETE(TOKEN, { params: { path: { token_id: id } } });

export function useS3Keys() {
  return useKeysetRows($api.useInfiniteQuery('get', S3_KEYS, { params: { query: { limit: PAGE } } }, KEYSET));
}

export function useCreateS3Key() {
  const refresh = useRefreshS3Keys();
  const mutation = $api.useMutation('post', S3_KEYS, { onSuccess: refresh });
  return { ...mutation, create: (body: NewS3Key) => mutation.mutateAsync({ body }) };
}

export function useRefreshS3Keys() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: keyOf(S3_KEYS) });
}

export const revokeS3Key = (id: string) => api.DELETE(S3_KEY, { params: { path: { s3_key_id: id } } });

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
