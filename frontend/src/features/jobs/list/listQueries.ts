import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { QueryOf } from '@/api/contract/query';
import { useProject } from '@/shared/domain/project';

const RUNS = '/api/v1/projects/{project}/runs/';
export type RunListQuery = QueryOf<'/api/v1/projects/{project}/runs/sums/'>;

/** How many runs the filters leave, and what they have cost. */
export function useRunSums(filter: RunListQuery, enabled: boolean) {
  const project = useProject();
  return $api.useQuery(
    'get',
    `${RUNS}sums/`,
    { params: { path: { project }, query: filter } },
    { enabled, placeholderData: keepPreviousData, staleTime: 5000 },
  );
}

/** The names of parameters and metrics that may be columns. */
export function useRunColumns(filter: RunListQuery) {
  const project = useProject();
  return $api.useQuery('get', `${RUNS}columns/`, { params: { path: { project }, query: filter } });
}

export type ManyRuns = 'cancel' | 'archive' | 'restore';
/** As many as one request takes. */
const AT_ONCE = 200;

const pieces = (runs: string[]): string[][] =>
  Array.from({ length: Math.ceil(runs.length / AT_ONCE) }, (_, at) => runs.slice(at * AT_ONCE, (at + 1) * AT_ONCE));

export interface Changed {
  changed: string[];
  refused: { run: string; number: number; code: string }[];
}

async function inPieces(runs: string[], send: (runs: string[]) => Promise<{ data?: Changed }>): Promise<Changed> {
  const all: Changed = { changed: [], refused: [] };
  for (const piece of pieces(runs)) {
    const { data } = await send(piece);
    all.changed.push(...(data?.changed ?? []));
    all.refused.push(...(data?.refused ?? []));
  }
  return all;
}

export function changeRuns(project: string, what: ManyRuns, runs: string[]): Promise<Changed> {
  const params = { path: { project } };
  return inPieces(runs, (piece) => {
    const body = { runs: piece };
    if (what === 'cancel') return api.POST(`${RUNS}cancel/`, { params, body });
    if (what === 'archive') return api.POST(`${RUNS}archive/`, { params, body });
    return api.POST(`${RUNS}restore/`, { params, body });
  });
}

export function tagRuns(project: string, runs: string[], add: string[], remove: string[]): Promise<Changed> {
  const params = { path: { project } };
  return inPieces(runs, (piece) => api.POST(`${RUNS}tags/`, { params, body: { runs: piece, add, remove } }));
}

/** Reads the lists of runs and their sums again. */
export function useRefreshLists() {
  const client = useQueryClient();
  return () => {
    for (const path of [RUNS, `${RUNS}sums/`, '/api/v1/projects/{project}/queue/'] as const)
      void client.invalidateQueries({ queryKey: keyOf(path) });
  };
}
