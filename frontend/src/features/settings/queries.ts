import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { AuditQuery, NewToken } from '@/api/contract/accounts';
import { KEYSET, useKeysetRows } from '@/api/keyset';

const TOKENS = '/api/v1/tokens/';
const TOKEN = '/api/v1/tokens/{token_id}/';
const AUDIT = '/api/v1/audit/';
const PAGE = 50;

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

export function useAuditEvents(filter: AuditQuery) {
  const init = { params: { query: { ...filter, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', AUDIT, init, KEYSET));
}
