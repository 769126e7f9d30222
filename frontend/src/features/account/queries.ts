import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { NewPassword, NewS3Key, NewToken } from '@/api/contract/accounts';
import { KEYSET, useKeysetRows } from '@/api/keyset';

const TOKENS = '/api/v1/tokens/';
const TOKEN = '/api/v1/tokens/{token_id}/';
const S3_KEYS = '/api/v1/s3-keys/';
const S3_KEY = '/api/v1/s3-keys/{s3_key_id}/';
const SESSIONS = '/api/v1/sessions/';
const SESSION = '/api/v1/sessions/{session_id}/';
const END_OTHERS = '/api/v1/sessions/end-others/';
const PASSWORD = '/api/v1/auth/password/';
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

export function useSessions() {
  return useKeysetRows($api.useInfiniteQuery('get', SESSIONS, { params: { query: { limit: PAGE } } }, KEYSET));
}

export const endSession = (session_id: string) => api.DELETE(SESSION, { params: { path: { session_id } } });
export const endOtherSessions = () => api.POST(END_OTHERS);
export const changePassword = (body: NewPassword) => api.POST(PASSWORD, { body });

export function useRefreshSessions() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: keyOf(SESSIONS) });
}
