import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '@/api/client';
import type { Session } from '@/api/contract/accounts';

/** The session of a browser in which nobody is signed in. */
export const NOBODY: Session = { authenticated: false, user: null, lacks_second_factor: false };

/** The signed-in person. Asked once at boot: the answer also sets the CSRF cookie. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  // Takes no abort signal: the router waits for this answer, whichever component comes or goes meanwhile.
  queryFn: async (): Promise<Session> => {
    const { data } = await api.GET('/api/v1/auth/session/');
    return data ?? NOBODY;
  },
  // Whoever waits for it is to learn that the server is away.
  networkMode: 'always',
  staleTime: Number.POSITIVE_INFINITY,
});

/** The person who is signed in. */
export function useMe() {
  return useQuery(sessionQuery).data?.user ?? undefined;
}
