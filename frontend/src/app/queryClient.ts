import { MutationCache, onlineManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { asApiError } from '@/api/errors';
import { connection } from '@/shared/live/connection';

type Listener = () => void;
let sessionLost: Listener = () => {};

/** The router listens here: importing it from this file would be a cycle. */
export function onSessionLost(listener: Listener): void {
  sessionLost = listener;
}

const watchSession = (error: unknown) => {
  const { status, code } = asApiError(error);
  // One that lacks a second factor which is demanded since is as good as none.
  if (status === 401 || code === 'second_factor_missing') sessionLost();
};

const MAX_RETRIES = 2;
const MAX_DELAY_MS = 30_000;

/** A refusal of the server is final. A service that starts again is waited for. */
export function mayRetry(failures: number, thrown: unknown): boolean {
  const { status, isTemporary } = asApiError(thrown);
  return isTemporary || (failures < MAX_RETRIES && (status === 0 || status >= 500));
}

export function retryDelayMs(failures: number, thrown: unknown): number {
  const { retryAfterS } = asApiError(thrown);
  return retryAfterS === null ? Math.min(1000 * 2 ** failures, MAX_DELAY_MS) : retryAfterS * 1000;
}

// Requests of an offline page wait for the server, and data on the page is read again when it is back.
onlineManager.setEventListener((setOnline) => {
  const stop = connection.listen();
  const unsubscribe = connection.subscribe(() => setOnline(connection.current().kind === 'online'));
  return () => {
    unsubscribe();
    stop();
  };
});

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: watchSession }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _result, mutation) => {
      // Signing in with a wrong password is a 401 too, and says so itself.
      if (mutation.options.meta?.ownsUnauthorized !== true) watchSession(error);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      // Whatever its age: nobody heard what changed while the server was away.
      refetchOnReconnect: 'always',
      retry: mayRetry,
      retryDelay: retryDelayMs,
    },
    // Fails at once and says why; sent minutes later it might surprise.
    mutations: { networkMode: 'always' },
  },
});
