import { queryOptions } from '@tanstack/react-query';
import { api } from '@/api/client';
import type { Session } from '@/api/contract/accounts';
import { queryClient } from './queryClient';

/** Who is signed in. Asked once at boot: the answer also sets the CSRF cookie. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  // Takes no abort signal: the router waits for this answer, whichever component comes or goes meanwhile.
  queryFn: async (): Promise<Session> => {
    const { data } = await api.GET('/api/v1/auth/session/');
    return data ?? { authenticated: false, user: null };
  },
  staleTime: Number.POSITIVE_INFINITY,
});

export async function isSignedIn(): Promise<boolean> {
  return (await queryClient.ensureQueryData(sessionQuery)).authenticated;
}

/** Signs out and forgets everything that was read in that person's name. */
export async function signOut(): Promise<void> {
  await api.POST('/api/v1/auth/logout/');
  queryClient.clear();
}
