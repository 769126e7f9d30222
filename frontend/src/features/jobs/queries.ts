import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api, keyOf } from '@/api/client';
import type { DescribedRun, ListedRun, Run, RunQuery, RunRequest, Workflow } from '@/api/contract/jobs';
import type { Listing } from '@/api/contract/shapes';
import { ApiError } from '@/api/errors';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import { isActive } from './states';
import { localise } from './wizard/localise';

const ACTIVE_POLL_MS = 2000;
/** Others may start runs too, but nothing on the page is moving. */
const IDLE_POLL_MS = 15_000;

/** The shell's badge counts active runs: it is asked again as soon as a page sees one start or end. */
function useCountedAgain(seen: string | undefined): void {
  const client = useQueryClient();
  const before = useRef(seen);
  useEffect(() => {
    const isNews = before.current !== undefined && before.current !== seen;
    before.current = seen;
    if (isNews) void client.invalidateQueries({ queryKey: keyOf('/api/v1/projects/{project}/overview/') });
  }, [client, seen]);
}

export function useRuns(filter: RunQuery) {
  const project = useProject();
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/projects/{project}/runs/',
    { params: { path: { project }, query: { ...filter, limit: 50 } } },
    {
      ...KEYSET,
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => {
        const rows = state.data?.pages.flatMap((page) => page.results) ?? [];
        return rows.some(isActive) ? ACTIVE_POLL_MS : IDLE_POLL_MS;
      },
    },
  );
  const listed = useKeysetRows<ListedRun>(query);
  useCountedAgain(listed.rows?.map(({ id, state }) => id + state).join());
  return listed;
}

export function useRun(id: string, enabled = true) {
  const init = { params: { path: { run_id: id } } };
  const query = $api.useQuery('get', '/api/v1/runs/{run_id}/', init, {
    enabled,
    // The socket says when it changes; this is for a socket that cannot be opened.
    refetchInterval: ({ state }) => (state.data && isActive(state.data) ? ACTIVE_POLL_MS : false),
  });
  useCountedAgain(query.data?.state);
  return query;
}

/** The id of the project's run with a number, as people and the command line name it; archived ones too. */
export function useRunNumbered(number: number | null) {
  const project = useProject();
  return useQuery({
    queryKey: [...keyOf('/api/v1/projects/{project}/runs/'), 'numbered', project, number],
    queryFn: async ({ signal }) => {
      for (const search of [`#${number}`, `#${number} is:archived`]) {
        const params = { path: { project }, query: { search, sort: 'number' } };
        const { data } = await api.GET('/api/v1/projects/{project}/runs/', { params, signal });
        const found = data?.results.find((run) => run.number === number);
        if (found) return found.id;
      }
      throw new ApiError({ status: 404, code: 'not_found', title: '' });
    },
    enabled: number !== null,
  });
}

export const useExplanation = (id: string, enabled: boolean) =>
  $api.useQuery(
    'get',
    '/api/v1/runs/{run_id}/explain/',
    { params: { path: { run_id: id } } },
    { enabled, refetchInterval: enabled ? ACTIVE_POLL_MS : false },
  );

/** Whether the run waited for its data, why, and what to do. */
export const useAdvice = (id: string) =>
  $api.useQuery('get', '/api/v1/runs/{run_id}/advice/', { params: { path: { run_id: id } } });

export const useEvents = (id: string, active: boolean) =>
  $api.useQuery(
    'get',
    '/api/v1/runs/{run_id}/events/',
    { params: { path: { run_id: id }, query: { limit: 200 } } },
    { refetchInterval: active ? ACTIVE_POLL_MS : false },
  );

export const useFiles = (id: string, active: boolean) =>
  $api.useQuery(
    'get',
    '/api/v1/runs/{run_id}/files/',
    { params: { path: { run_id: id }, query: { limit: 200 } } },
    { refetchInterval: active ? ACTIVE_POLL_MS * 2 : false },
  );

/** The files and folders directly in one folder of the run's files. */
export const useFolder = (id: string, path: string, active: boolean) =>
  $api.useQuery(
    'get',
    '/api/v1/runs/{run_id}/files/folder/',
    { params: { path: { run_id: id }, query: path ? { path } : {} } },
    { refetchInterval: active ? ACTIVE_POLL_MS * 2 : false, placeholderData: keepPreviousData },
  );

/** One file, which the address names. */
export const useFile = (id: string, file: string) =>
  $api.useQuery('get', '/api/v1/runs/{run_id}/files/{file_id}/', {
    params: { path: { run_id: id, file_id: file } },
  });

/** The content of a file. The bytes of a file never change; that they are stored is news. */
export const useFilePreview = (id: string, file: string, state: string) =>
  $api.useQuery(
    'get',
    '/api/v1/runs/{run_id}/files/{file_id}/preview/',
    { params: { path: { run_id: id, file_id: file } } },
    { staleTime: state === 'persisted' ? Number.POSITIVE_INFINITY : 0 },
  );

/** The changes of the run's code since its commit. */
export const useCodeChanges = (id: string) =>
  $api.useQuery(
    'get',
    '/api/v1/runs/{run_id}/code/changes/',
    { params: { path: { run_id: id } } },
    { staleTime: Number.POSITIVE_INFINITY },
  );

/** The difference from the code of one run to that of another; code never changes. */
export function useCodeBetween(from: string, to: string) {
  const project = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/runs/compare/code/',
    { params: { path: { project }, query: { runs: `${from},${to}` } } },
    { enabled: from !== to, staleTime: Number.POSITIVE_INFINITY },
  );
}

/** Runs beside each other; `value` is what the best of a metric is told by. */
export function useComparison(runs: string, value: 'last' | 'min' | 'max') {
  const project = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/runs/compare/',
    { params: { path: { project }, query: { runs, value } } },
    {
      enabled: runs.includes(','),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (state.data?.runs.some(isActive) ? ACTIVE_POLL_MS * 2 : false),
    },
  );
}

const COMPARED_POINTS = 1000;

/** One metric of all the runs; read again when `count`, the number of their points, grows. */
export function useComparedCurves(runs: string, key: string, range: [number, number] | null, count: number) {
  const project = useProject();
  return useQuery({
    queryKey: ['compared', project, runs, key, range, count],
    queryFn: async ({ signal }) => {
      const steps = range && { from_step: Math.floor(range[0]), to_step: Math.ceil(range[1]) };
      const { data } = await api.GET('/api/v1/projects/{project}/runs/compare/series/', {
        params: { path: { project }, query: { runs, key, points: COMPARED_POINTS, ...steps } },
        signal,
      });
      return data?.series ?? [];
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

export function useWorkflows() {
  const project = useProject();
  const { i18n } = useTranslation();
  const inLanguage = useCallback(
    (listing: Listing<Workflow>) => ({
      ...listing,
      results: listing.results.map((workflow) => localise(workflow, i18n.language)),
    }),
    [i18n.language],
  );
  const query = { params: { query: { project } } };
  return $api.useQuery('get', '/api/v1/workflows/', query, { staleTime: 60_000, select: inLanguage });
}

const FETCHES = '/api/v1/projects/{project}/code-fetches/';
const FETCH_POLL_MS = 1000;

/** Asks for a commit from git. */
export function useFetchCode() {
  const project = useProject();
  const mutation = $api.useMutation('post', FETCHES);
  return {
    ...mutation,
    ask: (body: { url: string; ref: string; secret: string }) =>
      mutation.mutateAsync({ params: { path: { project } }, body }),
  };
}

/** The state of a commit's fetch; asked again until that is settled. */
export function useCodeFetch(id: string) {
  const project = useProject();
  const init = { params: { path: { project, fetch_id: id } } };
  return $api.useQuery('get', `${FETCHES}{fetch_id}/`, init, {
    enabled: id !== '',
    refetchInterval: ({ state }) =>
      state.data && ['ready', 'failed'].includes(state.data.state) ? false : FETCH_POLL_MS,
  });
}

export const useClusters = () => $api.useQuery('get', '/api/v1/clusters/', {}, { refetchInterval: 10_000 });

const NO_CLUSTERS: string[] = [];

/** The names of registered clusters that the reader may see, those of Atom's own machines left out. */
export function useRegisteredClusters(): string[] {
  const { data } = $api.useQuery('get', '/api/v1/clusters/', {});
  const names = data?.results.filter(({ kind }) => kind !== 'local').map(({ name }) => name);
  return names?.length ? names : NO_CLUSTERS;
}

export function useVersions(dataset: string) {
  const project = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/datasets/{dataset}/versions/',
    { params: { path: { project, dataset }, query: { limit: 100, branch: 'main' } } },
    { enabled: dataset !== '' },
  );
}

/** The saved views of a dataset; not asked without one. */
export function useSavedViews(dataset: string) {
  const project = useProject();
  const init = { params: { path: { project, dataset }, query: { limit: 200 } } };
  return $api.useQuery('get', '/api/v1/projects/{project}/datasets/{dataset}/views/', init, {
    enabled: dataset !== '',
  });
}

/** How many files of a version match a query and a view. */
export function useMatching(dataset: string, ref: string, selection: { where?: string; view?: string }) {
  const project = useProject();
  const { where, view } = selection;
  const query = { where: where || undefined, view: view || undefined, limit: 1 };
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/',
    { params: { path: { project, dataset, ref }, query } },
    { enabled: Boolean(dataset && ref && (where || view)), retry: false },
  );
}

export function useModels() {
  const project = useProject();
  return $api.useQuery('get', '/api/v1/projects/{project}/models/', {
    params: { path: { project }, query: { limit: 200 } },
  });
}

export function usePreview(request: RunRequest, enabled: boolean) {
  const project = useProject();
  return $api.useQuery(
    'post',
    '/api/v1/projects/{project}/runs/preview/',
    { params: { path: { project } }, body: request },
    { enabled, placeholderData: keepPreviousData, staleTime: 5000, retry: false },
  );
}

/** The data that a run would read, and its misfits; asked again only when its data changes. */
export function usePreflight(request: RunRequest, enabled: boolean) {
  const project = useProject();
  return $api.useQuery(
    'post',
    '/api/v1/projects/{project}/runs/preflight/',
    { params: { path: { project } }, body: request },
    { enabled, placeholderData: keepPreviousData, staleTime: 5000, retry: false },
  );
}

/** Reads the run and everything under it again. */
export function useRefreshRun() {
  const client = useQueryClient();
  return () => {
    for (const path of [
      '/api/v1/runs/{run_id}/',
      '/api/v1/runs/{run_id}/events/',
      '/api/v1/projects/{project}/runs/',
    ] as const)
      void client.invalidateQueries({ queryKey: keyOf(path) });
  };
}

/** Changes what is said of a run: all but the star with the revision that was read. */
export const describeRun = (id: string, body: DescribedRun) =>
  api.PATCH('/api/v1/runs/{run_id}/', { params: { path: { run_id: id } }, body });

export async function readRun(id: string): Promise<Run> {
  const { data } = await api.GET('/api/v1/runs/{run_id}/', { params: { path: { run_id: id } } });
  return data as Run;
}

export const cancelRun = (id: string) =>
  api.POST('/api/v1/runs/{run_id}/cancel/', { params: { path: { run_id: id } } });
export const retryRun = (id: string) => api.POST('/api/v1/runs/{run_id}/retry/', { params: { path: { run_id: id } } });

export async function startRun(project: string, request: RunRequest, idempotencyKey: string) {
  const header = { 'Idempotency-Key': idempotencyKey };
  const { data } = await api.POST('/api/v1/projects/{project}/runs/', {
    params: { path: { project }, header },
    body: request,
  });
  return data;
}

export async function registerModel(
  project: string,
  model: string,
  run: string,
  artifact: string,
  description: string,
) {
  const { data } = await api.GET('/api/v1/projects/{project}/models/', {
    params: { path: { project }, query: { limit: 200 } },
  });
  if (!data?.results.some((one) => one.name === model))
    await api.POST('/api/v1/projects/{project}/models/', { params: { path: { project } }, body: { name: model } });
  const version = await api.POST('/api/v1/projects/{project}/models/{model}/versions/', {
    params: { path: { project, model } },
    body: { run, artifact_path: artifact, description },
  });
  return version.data;
}

export async function readLog(id: string, attempt: number | undefined, from: number, signal: AbortSignal, rank = 0) {
  const query = {
    from,
    limit_bytes: 4_194_304,
    stream: 'all' as const,
    ...(rank > 0 && { rank }),
    ...(attempt !== undefined && { attempt: String(attempt) }),
  };
  const { data } = await api.GET('/api/v1/runs/{run_id}/logs/', { params: { path: { run_id: id }, query }, signal });
  return data;
}

/** The next lines of all ranks of an attempt, by time; at first those near the end. */
export async function readMergedLog(id: string, attempt: number | undefined, after: string, signal: AbortSignal) {
  const query = {
    ...(after ? { after } : { tail_bytes: MERGED_TAIL_BYTES }),
    ...(attempt !== undefined && { attempt: String(attempt) }),
  };
  const path = { run_id: id };
  const { data } = await api.GET('/api/v1/runs/{run_id}/logs/merged/', { params: { path, query }, signal });
  return data;
}

/** The bytes at the end of each rank's log that are read first. */
const MERGED_TAIL_BYTES = 65_536;

export interface LogQuery {
  rank?: number;
  q?: string;
  regex?: '1';
  case?: '1';
  errors?: '1';
  stream?: 'stdout' | 'stderr';
}

/** One page of matches, from a cursor on; the server goes through the whole log, whatever the page holds of it. */
export async function searchLog(
  id: string,
  attempt: number | undefined,
  wanted: LogQuery,
  cursor: string,
  signal: AbortSignal,
) {
  const named = attempt === undefined ? {} : { attempt: String(attempt) };
  const query = { ...wanted, ...named, ...(cursor && { cursor }), limit: 1000 };
  const { data } = await api.GET('/api/v1/runs/{run_id}/logs/search/', {
    params: { path: { run_id: id }, query },
    signal,
  });
  return data;
}

export function rawLogUrl(id: string, attempt: number | undefined, wanted: LogQuery = {}) {
  const params = new URLSearchParams(Object.entries(wanted).map(([name, value]) => [name, String(value)]));
  if (attempt !== undefined) params.set('attempt', String(attempt));
  const query = params.toString();
  return `/api/v1/runs/${id}/logs/raw/${query && `?${query}`}`;
}
