import { useQueryClient } from '@tanstack/react-query';
import { $api, keyOf } from '@/api/client';
import type { NewHold, NewRetention } from '@/api/contract/datasets';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

const RETENTION = '/api/v1/projects/{project}/datasets/{dataset}/retention/';
const HOLDS = '/api/v1/projects/{project}/datasets/{dataset}/holds/';
const RELEASE = '/api/v1/projects/{project}/datasets/{dataset}/holds/{hold_id}/release/';
const RESTORE = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/restore/';
const VERSIONS = '/api/v1/projects/{project}/datasets/{dataset}/versions/';
const DATASETS = '/api/v1/projects/{project}/datasets/';
const DATASET = '/api/v1/projects/{project}/datasets/{dataset}/';
const DELETED = '/api/v1/projects/{project}/deleted-datasets/';
const UNDELETE = '/api/v1/projects/{project}/deleted-datasets/{dataset_id}/restore/';
const LISTS = [DATASETS, DELETED] as const;
const CHANGED = [RETENTION, HOLDS, VERSIONS] as const;
const PAGE = 50;

export function useRetention(dataset: string) {
  const project = useProject();
  return $api.useQuery('get', RETENTION, { params: { path: { project, dataset } } });
}

export function useSetRetention(dataset: string) {
  const project = useProject();
  const mutation = $api.useMutation('put', RETENTION, { onSuccess: useRefresh() });
  return {
    ...mutation,
    set: (body: NewRetention) => mutation.mutateAsync({ params: { path: { project, dataset } }, body }),
  };
}

export function useHolds(dataset: string) {
  const project = useProject();
  const init = { params: { path: { project, dataset }, query: { limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', HOLDS, init, KEYSET));
}

export function usePlaceHold(dataset: string) {
  const project = useProject();
  const mutation = $api.useMutation('post', HOLDS, { onSuccess: useRefresh() });
  return {
    ...mutation,
    place: (body: NewHold) => mutation.mutateAsync({ params: { path: { project, dataset } }, body }),
  };
}

export function useReleaseHold(dataset: string) {
  const project = useProject();
  const mutation = $api.useMutation('post', RELEASE, { onSuccess: useRefresh() });
  return {
    ...mutation,
    release: (hold_id: string) => mutation.mutateAsync({ params: { path: { project, dataset, hold_id } } }),
  };
}

export function useRestoreVersion(dataset: string) {
  const project = useProject();
  const mutation = $api.useMutation('post', RESTORE, { onSuccess: useRefresh() });
  return {
    ...mutation,
    restore: (ref: string) => mutation.mutateAsync({ params: { path: { project, dataset, ref } } }),
  };
}

export function useDescribe(dataset: string) {
  const project = useProject();
  const client = useQueryClient();
  const onSuccess = () =>
    Promise.all(([DATASET, DATASETS] as const).map((path) => client.invalidateQueries({ queryKey: keyOf(path) })));
  const mutation = $api.useMutation('patch', DATASET, { onSuccess });
  return {
    ...mutation,
    describe: (description: string) =>
      mutation.mutateAsync({ params: { path: { project, dataset } }, body: { description } }),
  };
}

export function useDeleteDataset(dataset: string) {
  const project = useProject();
  const mutation = $api.useMutation('delete', DATASET, { onSuccess: useRefreshLists() });
  return {
    ...mutation,
    remove: () => mutation.mutateAsync({ params: { path: { project, dataset }, query: { name: dataset } } }),
  };
}

export function useDeletedDatasets() {
  const project = useProject();
  const init = { params: { path: { project }, query: { limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', DELETED, init, KEYSET));
}

export function useRestoreDataset() {
  const project = useProject();
  const mutation = $api.useMutation('post', UNDELETE, { onSuccess: useRefreshLists() });
  return {
    ...mutation,
    restore: (dataset_id: string) => mutation.mutateAsync({ params: { path: { project, dataset_id } } }),
  };
}

/** A deleted dataset leaves one list for the other. */
function useRefreshLists() {
  const client = useQueryClient();
  return () => Promise.all(LISTS.map((path) => client.invalidateQueries({ queryKey: keyOf(path) })));
}

/** A hold restores versions, and both change what is due. */
function useRefresh() {
  const client = useQueryClient();
  return () => Promise.all(CHANGED.map((path) => client.invalidateQueries({ queryKey: keyOf(path) })));
}
