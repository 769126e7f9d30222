import { useQueryClient } from '@tanstack/react-query';
import { $api, keyOf } from '@/api/client';
import type { NewReplica, Replica } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import type { VersionAddress } from '../queries';

const REPLICAS = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/replicas/';
const REPLICA = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/replicas/{store}/';
const PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/replica-preview/';
const STORES = '/api/v1/stores/';
const OPEN_POLL_MS = 2000;
const OPEN = new Set<Replica['state']>(['waiting', 'copying', 'verifying']);

export const isOpen = ({ state }: Pick<Replica, 'state'>) => OPEN.has(state);

/** The replicas of a version; asked again while one is on its way. */
export function useReplicas(dataset: string, ref: string) {
  const project = useProject();
  return $api.useQuery(
    'get',
    REPLICAS,
    { params: { path: { project, dataset, ref } } },
    {
      refetchInterval: ({ state }) => (state.data?.some(isOpen) ? OPEN_POLL_MS : false),
    },
  );
}

/** The first page of second stores. */
export const useStoreNames = () => $api.useQuery('get', STORES, {});

/** The bytes that a store lacks of a version, and their price. */
export function useReplicaPreview(dataset: string, ref: string, store: string) {
  const project = useProject();
  const init = { params: { path: { project, dataset, ref }, query: { store } } };
  return $api.useQuery('get', PREVIEW, init, { enabled: store !== '' });
}

export function useReplicaActions(dataset: string, ref: VersionAddress['ref']) {
  const project = useProject();
  const client = useQueryClient();
  const options = { onSettled: () => client.invalidateQueries({ queryKey: keyOf(REPLICAS) }) };
  const start = $api.useMutation('post', REPLICAS, options);
  const change = $api.useMutation('patch', REPLICA, options);
  const remove = $api.useMutation('delete', REPLICA, options);
  const path = { project, dataset, ref };
  const at = (store: string) => ({ params: { path: { ...path, store } } });
  return {
    start: (body: NewReplica) => start.mutateAsync({ params: { path }, body }),
    pin: (store: string) => change.mutateAsync({ ...at(store), body: { pinned: true } }),
    keepUntil: (store: string, ends_at: string) => change.mutateAsync({ ...at(store), body: { ends_at } }),
    remove: (store: string) => remove.mutateAsync(at(store)),
  };
}
