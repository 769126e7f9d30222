import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { $api, api, keyOf } from '@/api/client';
import type { DailyMailChange, PreferenceChangeRequest } from '@/api/contract/notifications';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import type { Topic } from './topics';

const LIST = '/api/v1/notifications/';
const COUNT = '/api/v1/notifications/count/';
const PREFERENCES = '/api/v1/notifications/preferences/';
const UNSUBSCRIBE = '/api/v1/notifications/unsubscribe/{link}/';
const OVERVIEW = '/api/v1/projects/{project}/overview/';
const PROJECTS = '/api/v1/projects/';
const PAGE = 50;
/** An event may get lost: the number is asked for now and then. */
const SAFETY_MS = 60_000;

export function useUnreadCount() {
  return $api.useQuery('get', COUNT, {}, { refetchInterval: SAFETY_MS }).data?.unread ?? 0;
}

export interface NotificationFilter {
  unread?: 'true';
  topic?: Topic;
}

export function useNotifications(filter: NotificationFilter, limit = PAGE) {
  const init = { params: { query: { ...filter, limit } } };
  return useKeysetRows($api.useInfiniteQuery('get', LIST, init, KEYSET));
}

/** Has everything read again that shows notifications; what was looked at no longer needs anybody. */
export function useRefresh() {
  const client = useQueryClient();
  return useCallback(
    () =>
      Promise.all(([LIST, COUNT, OVERVIEW] as const).map((key) => client.invalidateQueries({ queryKey: keyOf(key) }))),
    [client],
  );
}

/** Has the person's roles read again, by which pages offer what may be done. */
export function useRefreshRoles() {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries({ queryKey: keyOf(PROJECTS) }), [client]);
}

export const markRead = (body: { ids?: string[]; subject?: string; until?: string; topic?: Topic }) =>
  api.POST('/api/v1/notifications/read/', { body });
export const markUnread = (ids: string[]) => api.POST('/api/v1/notifications/unread/', { body: { ids } });

export const usePreferences = () => $api.useQuery('get', PREFERENCES);

export function useChangePreference() {
  const client = useQueryClient();
  return $api.useMutation('patch', PREFERENCES, {
    onSuccess: (data) => client.setQueryData([...keyOf(PREFERENCES)], data),
    onSettled: () => void client.invalidateQueries({ queryKey: keyOf(PREFERENCES) }),
  });
}
export type Change = PreferenceChangeRequest;
export interface Changes {
  topics?: Change[];
  daily?: DailyMailChange;
}

export const unsubscribe = async (link: string) => (await api.POST(UNSUBSCRIBE, { params: { path: { link } } })).data;
