import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';

const PEOPLE = '/api/v1/people/';
const PERSON = '/api/v1/people/{user_id}/';
const PERSON_SESSIONS = '/api/v1/people/{user_id}/sessions/';
const SECOND_FACTOR = '/api/v1/people/{user_id}/second-factor/';
const RESET_LINK = '/api/v1/people/{user_id}/reset-link/';
const PAGE = 50;

export function usePeople(filter: { q?: string; state?: 'active' | 'inactive' }) {
  const init = { params: { query: { ...filter, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', PEOPLE, init, { ...KEYSET, placeholderData: keepPreviousData }));
}

export const setPersonActive = (user_id: string, is_active: boolean) =>
  api.PATCH(PERSON, { params: { path: { user_id } }, body: { is_active } });
export const endSessionsOf = (user_id: string) => api.DELETE(PERSON_SESSIONS, { params: { path: { user_id } } });
export const resetSecondFactor = (user_id: string) => api.DELETE(SECOND_FACTOR, { params: { path: { user_id } } });
export const makeResetLink = async (user_id: string) =>
  (await api.POST(RESET_LINK, { params: { path: { user_id } } })).data?.link ?? '';

export function useRefreshPeople() {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: keyOf(PEOPLE) });
}
