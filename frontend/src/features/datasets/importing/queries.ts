import { useQueryClient } from '@tanstack/react-query';
import { $api, api } from '@/api/client';
import type { NewImport } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';

const SIGNS = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/import-signs/';
const IMPORTS = '/api/v1/projects/{project}/imports/';
const RUN = '/api/v1/runs/{run_id}/';
const REPORT = '/api/v1/runs/{run_id}/import-report/';
const CONFIRM = '/api/v1/runs/{run_id}/import/';
const CANCEL = '/api/v1/runs/{run_id}/cancel/';

const POLL_MS = 1000;
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

/** The archives and annotations of a version, by their names. */
export function useSigns(dataset: string, ref: string | undefined, enabled = true) {
  const project = useProject();
  const init = { params: { path: { project, dataset, ref: ref ?? '' } } };
  const options = { enabled: enabled && ref !== undefined, staleTime: Number.POSITIVE_INFINITY };
  return $api.useQuery('get', SIGNS, init, options);
}

/** The run of a step; asked again until it has ended. */
export function useStep(id: string | undefined) {
  const poll = usePollMs();
  const init = { params: { path: { run_id: id ?? '' } } };
  return $api.useQuery('get', RUN, init, {
    enabled: id !== undefined,
    refetchInterval: ({ state }) =>
      state.data && !ENDED.has(state.data.state) ? Math.min(poll(POLL_MS), 3000) : false,
  });
}

export const useReport = (id: string, enabled: boolean) =>
  $api.useQuery('get', REPORT, { params: { path: { run_id: id } } }, { enabled, staleTime: Number.POSITIVE_INFINITY });

export function useImportActions() {
  const project = useProject();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['get', RUN] });
  return {
    look: async (body: NewImport) => (await api.POST(IMPORTS, { params: { path: { project } }, body })).data?.id,
    confirm: async (run: string, accepted: number | undefined) => {
      const body = accepted === undefined ? {} : { accepted_loss: accepted };
      return (await api.POST(CONFIRM, { params: { path: { run_id: run } }, body })).data?.id;
    },
    cancel: async (run: string) => {
      await api.POST(CANCEL, { params: { path: { run_id: run } } });
      await refresh();
    },
  };
}
