import { api } from '@/api/client';
import { sessionQuery } from '@/shared/me';
import { queryClient } from './queryClient';

export { sessionQuery };

export async function isSignedIn(): Promise<boolean> {
  return (await queryClient.ensureQueryData(sessionQuery)).authenticated;
}

/** Signs out and forgets everything that was read in that person's name. */
export async function signOut(): Promise<void> {
  await api.POST('/api/v1/auth/logout/');
  queryClient.clear();
}
