import { api } from '@/api/client';
import { sessionQuery } from '@/shared/me';
import { queryClient } from './queryClient';

export { sessionQuery };

export async function isSignedIn(): Promise<boolean> {
  return (await queryClient.ensureQueryData(sessionQuery)).authenticated;
}

/** Whether nothing but setting up a second factor is allowed yet. */
export async function lacksSecondFactor(): Promise<boolean> {
  return (await queryClient.ensureQueryData(sessionQuery)).lacks_second_factor;
}

/** Signs out and forgets everything that was read in that person's name. */
export async function signOut(): Promise<void> {
  const { data } = await api.POST('/api/v1/auth/logout/');
  queryClient.clear();
  if (!data?.provider_url) return;
  window.location.assign(data.provider_url);
  // The page goes; until it has, nothing else is to happen.
  await new Promise(() => {});
}
