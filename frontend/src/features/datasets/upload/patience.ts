/** Asking again when the network or the server is away: a closed laptop is no failure. */
import { asApiError } from '@/api/errors';

const AWAY = new Set([0, 408, 429, 502, 503, 504]);
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

export const isAway = (error: unknown): boolean => {
  const { status, code } = asApiError(error);
  return AWAY.has(status) && code !== 'client_error';
};

/** Waits, but no longer than until the network is said to be back. Raises AbortError. */
function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (act: () => void) => {
      clearTimeout(timer);
      window.removeEventListener('online', onOnline);
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onOnline = () => end(resolve);
    const onAbort = () => end(() => reject(signal.reason));
    const timer = setTimeout(onOnline, ms);
    window.addEventListener('online', onOnline);
    signal.addEventListener('abort', onAbort);
  });
}

/** Does it until it is done, or has failed for another reason than an absent server; `onWait` hears what is waited for. */
export async function patiently<T>(
  act: () => Promise<T>,
  signal: AbortSignal,
  onWait: (error: unknown) => void,
): Promise<T> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
    signal.throwIfAborted();
    try {
      const done = await act();
      onWait(null);
      return done;
    } catch (error) {
      if (signal.aborted || !isAway(error)) throw error;
      onWait(error);
      await rest(Math.max(waitMs, (asApiError(error).retryAfterS ?? 0) * 1000), signal);
    }
  }
}
