import { useQuery } from '@tanstack/react-query';
import { anonymous } from '@/api/client';
import type { SharedLog, SharedRun } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import type { CurveSource } from '../curves/source';
import { isActive } from '../states';

/** How often the page of a link asks, while the run goes on and the page is seen. */
export const LINK_POLL_MS = 10_000;
const header = (token: string) => ({ 'Atom-Share': token });

/** Whether the link does not work, whatever the reason: asking again would change nothing. */
export const isGone = (error: unknown) => error != null && asApiError(error).status === 404;

/** The run that a link shows. */
export const useSharedRun = (token: string) =>
  useQuery({
    queryKey: ['shared-run', token],
    queryFn: async ({ signal }): Promise<SharedRun> => {
      const { data } = await anonymous.GET('/api/v1/shared-run/', { params: { header: header(token) }, signal });
      return data as SharedRun;
    },
    enabled: token !== '',
    refetchInterval: ({ state }) =>
      isGone(state.error) || (state.data && !isActive(state.data)) ? false : LINK_POLL_MS,
  });

/** Reads the curves of the run that a link shows. */
export const curvesOf = (token: string): CurveSource => ({
  pollMs: LINK_POLL_MS,
  readMetrics: async (signal) => {
    const { data } = await anonymous.GET('/api/v1/shared-run/metrics/', { params: { header: header(token) }, signal });
    return data ?? [];
  },
  readSeries: async (query, signal) => {
    const { data } = await anonymous.GET('/api/v1/shared-run/metrics/series/', {
      params: { header: header(token), query },
      signal,
    });
    return data?.series ?? [];
  },
});

const LOG_BYTES = 1 << 20;

/** A part of the log of the run that a link shows. */
export async function readSharedLog(
  token: string,
  attempt: number,
  from: number,
  signal: AbortSignal,
): Promise<SharedLog | undefined> {
  const query = { attempt, from, limit_bytes: LOG_BYTES };
  const { data } = await anonymous.GET('/api/v1/shared-run/log/', {
    params: { header: header(token), query },
    signal,
  });
  return data;
}
