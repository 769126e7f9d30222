import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { NewView, SavedView, ViewChanges } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import type { VersionAddress } from '../queries';

const VIEWS = '/api/v1/projects/{project}/datasets/{dataset}/views/';
const VIEW = '/api/v1/projects/{project}/datasets/{dataset}/views/{view}/';
const ENTRIES = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/';

const MOST = 200;

/** The saved views of a dataset by name. */
export function useViews(dataset: string) {
  const project = useProject();
  return $api.useQuery('get', VIEWS, { params: { path: { project, dataset }, query: { limit: MOST } } });
}

/** Saves, changes and removes views; lists and whatever is shown through a view are read again. */
export function useViewActions(dataset: string) {
  const path = { project: useProject(), dataset };
  const client = useQueryClient();
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: keyOf(VIEWS) });
    await client.invalidateQueries({ queryKey: keyOf(ENTRIES) });
    await client.invalidateQueries({ queryKey: ['entries'] });
  };
  return {
    save: async (body: NewView) => {
      await api.POST(VIEWS, { params: { path }, body });
      await refresh();
    },
    change: async (view: string, body: ViewChanges) => {
      const { data } = await api.PATCH(VIEW, { params: { path: { ...path, view } }, body });
      await refresh();
      return data as SavedView;
    },
    remove: async (view: string) => {
      await api.DELETE(VIEW, { params: { path: { ...path, view } } });
      await refresh();
    },
  };
}

/** How many files of a version are in a view. */
export function useViewCount({ project, dataset, ref }: VersionAddress, view: string) {
  const init = { params: { path: { project, dataset, ref }, query: { view, limit: 1 } } };
  // Counting reads much of a large version: not again each time that the list is opened.
  return $api.useQuery('get', ENTRIES, init, { staleTime: 60_000 });
}
