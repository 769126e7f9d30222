import { api } from '@/api/client';
import { sessionQuery } from '@/shared/domain/me';
import { signingOut } from '@/shared/domain/signingOut';
import { flushPending } from '@/shared/ui/pending';
import { queryClient } from './queryClient';
import { forgetRecent } from './shell/recent';

export { sessionQuery };

export async function isSignedIn(): Promise<boolean> {
  return (await queryClient.ensureQueryData(sessionQuery)).authenticated;
}

/** Whether nothing but setting up a second factor is allowed yet. */
export async function lacksSecondFactor(): Promise<boolean> {
  return (await queryClient.ensureQueryData(sessionQuery)).lacks_second_factor;
}

/** As long as signing out waits for what was asked before it: a large edit goes on at the server by itself. */
const LAST_MS = 5000;

/** Signs out and forgets everything that was read in that person's name; what could still be undone is done before. */
export async function signOut(): Promise<void> {
  await Promise.race([flushPending(), new Promise((over) => setTimeout(over, LAST_MS))]);
  const { data } = await api.POST('/api/v1/auth/logout/');
  queryClient.clear();
  forgetRecent();
  if (!data?.provider_url) return;
  window.location.assign(data.provider_url);
  // The page goes; until it has, nothing else is to happen.
  await new Promise(() => {});
}
signingOut.run = signOut;
