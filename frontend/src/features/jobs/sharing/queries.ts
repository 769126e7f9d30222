import { useQuery, useQueryClient } from '@tanstack/react-query';
import { $api, anonymous, api, keyOf } from '@/api/client';
import type { NewRunShare, ProjectRunShare, SharedLog, SharedRun } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/project';
import type { CurveSource } from '../curves/source';
import { isActive } from '../states';

const SHARES = '/api/v1/runs/{run_id}/shares/';
const OF_PROJECT = '/api/v1/projects/{project}/run-shares/';

export const useShares = (run: string) => $api.useQuery('get', SHARES, { params: { path: { run_id: run } } });

/** Every link of the project that works; asked by its administrators only. */
export function useProjectShares(enabled: boolean) {
  const project = useProject();
  const init = { params: { path: { project }, query: { limit: 100 } } };
  return useKeysetRows<ProjectRunShare>($api.useInfiniteQuery('get', OF_PROJECT, init, { ...KEYSET, enabled }));
}

/** Makes and ends links, then reads the lists again. */
export function useSharing() {
  const client = useQueryClient();
  const again = () =>
    Promise.all([SHARES, OF_PROJECT].map((path) => client.invalidateQueries({ queryKey: ['get', path] })));
  return {
    make: async (run: string, body: NewRunShare) => {
      const { data } = await api.POST(SHARES, { params: { path: { run_id: run } }, body });
      await client.invalidateQueries({ queryKey: keyOf(SHARES) });
      return data;
    },
    end: async (run: string, share: string) => {
      await api.DELETE('/api/v1/runs/{run_id}/shares/{share_id}/', {
        params: { path: { run_id: run, share_id: share } },
      });
      await again();
    },
  };
}

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
