import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { NewRunShare, ProjectRunShare } from '@/api/contract/jobs';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

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
