import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import { useProject } from '@/shared/domain/project';
import { useFormat } from '@/shared/ui/format';

const POLICY = '/api/v1/projects/{project}/run-retention/';
const KEEPING = '/api/v1/runs/{run_id}/retention/';
const RUN = '/api/v1/runs/{run_id}/';

/** The policy in force; with `days` (0: for ever), what another one would remove. */
export function useRunPolicy(days?: number) {
  const project = useProject();
  const init = { params: { path: { project }, query: { days } } };
  return $api.useQuery('get', POLICY, init, { placeholderData: keepPreviousData });
}

export function useSetRunPolicy() {
  const project = useProject();
  const client = useQueryClient();
  return async (days: number | null) => {
    await api.PUT(POLICY, { params: { path: { project } }, body: { days } });
    await client.invalidateQueries({ queryKey: keyOf(POLICY) });
  };
}

export function useRunKeeping(run: string) {
  return $api.useQuery('get', KEEPING, { params: { path: { run_id: run } } });
}

/** The day when the logs and outputs of a run were removed, as it is written; undefined if they were not. */
export function useRemovedOn(run: string): string | undefined {
  const format = useFormat();
  const removedAt = useRunKeeping(run).data?.removed_at;
  return removedAt ? format.date(removedAt) : undefined;
}

/** Names how long a run is kept, for `confirmUndo`: "as the project" must not come after another choice. */
export const aboutKeeping = (run: string) => `keeping ${run}`;

/** Keeps the logs and outputs of a run for so many days from now; null: as the project has it. */
export function useKeepRun(run: string) {
  const client = useQueryClient();
  return async (days: number | null) => {
    await api.PUT(KEEPING, { params: { path: { run_id: run } }, body: { days } });
    await Promise.all([KEEPING, RUN].map((path) => client.invalidateQueries({ queryKey: ['get', path] })));
  };
}
