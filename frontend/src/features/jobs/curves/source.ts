import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { $api, api } from '@/api/client';
import type { Metric, MetricSeries } from '@/api/contract/jobs';

const ACTIVE_POLL_MS = 2000;
export const SERIES_POINTS = 2000;

export interface SeriesQuery {
  key: string[];
  points: number;
  from_step?: number;
  to_step?: number;
}

/** Where curves are read from when it is not by the id of their run. */
export interface CurveSource {
  readMetrics: (signal: AbortSignal) => Promise<Metric[]>;
  readSeries: (query: SeriesQuery, signal: AbortSignal) => Promise<MetricSeries[]>;
  /** How often they are asked for while the run goes on. */
  pollMs: number;
}

export const CurvesFrom = createContext<CurveSource | null>(null);

export const metricsOfSource = (id: string) => ['metrics-of-source', id] as const;

/** The metrics of a run. With another source, `id` only names it. */
export function useMetrics(id: string, active: boolean) {
  const source = useContext(CurvesFrom);
  const own = $api.useQuery(
    'get',
    '/api/v1/runs/{run_id}/metrics/',
    { params: { path: { run_id: id } } },
    { enabled: source === null, refetchInterval: active ? ACTIVE_POLL_MS : false },
  );
  const others = useQuery({
    queryKey: metricsOfSource(id),
    queryFn: async ({ signal }) => (await source?.readMetrics(signal)) ?? [],
    enabled: source !== null,
    refetchInterval: active && source ? source.pollMs : false,
  });
  return source ? others : own;
}

async function readOwn(id: string, query: SeriesQuery, signal: AbortSignal): Promise<MetricSeries[]> {
  const { data } = await api.GET('/api/v1/runs/{run_id}/metrics/series/', {
    params: { path: { run_id: id }, query },
    signal,
  });
  return data?.series ?? [];
}

/** Curves of some keys over a range of steps. `count` is the number of points known to exist: when it grows, they are read again. */
export function useSeries(id: string, keys: string[], range: [number, number] | null, count: number) {
  const source = useContext(CurvesFrom);
  return useQuery({
    queryKey: ['series', id, keys, range, count],
    queryFn: ({ signal }) => {
      const steps = range && { from_step: Math.floor(range[0]), to_step: Math.ceil(range[1]) };
      const query = { key: keys, points: SERIES_POINTS, ...steps };
      return source ? source.readSeries(query, signal) : readOwn(id, query, signal);
    },
    enabled: keys.length > 0,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}
