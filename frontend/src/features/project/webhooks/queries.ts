import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { NewWebhook } from '@/api/contract/webhooks';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

const LIST = '/api/v1/projects/{project}/webhooks/';
const ONE = '/api/v1/projects/{project}/webhooks/{webhook_id}/';
const ROTATE = '/api/v1/projects/{project}/webhooks/{webhook_id}/rotate-secret/';
const TEST = '/api/v1/projects/{project}/webhooks/{webhook_id}/test/';
const DELIVERIES = '/api/v1/projects/{project}/webhooks/{webhook_id}/deliveries/';
const DELIVERY = '/api/v1/projects/{project}/webhooks/{webhook_id}/deliveries/{delivery_id}/';
const AGAIN = '/api/v1/projects/{project}/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver/';
const PAGE = 50;
const POLL_MS = 2000;

export function useWebhooks() {
  const project = useProject();
  const init = { params: { path: { project }, query: { limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', LIST, init, KEYSET));
}

/** Polls while something is still being tried. */
export function useDeliveries(webhook_id: string) {
  const project = useProject();
  const init = { params: { path: { project, webhook_id }, query: { limit: PAGE } } };
  const query = $api.useInfiniteQuery('get', DELIVERIES, init, {
    ...KEYSET,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ results }) => results.some(({ state: one }) => one === 'pending')) ? POLL_MS : false,
  });
  return useKeysetRows(query);
}

/** Polls while it is still being tried. */
export function useDelivery(webhook_id: string, delivery_id: string) {
  const project = useProject();
  const init = { params: { path: { project, webhook_id, delivery_id } } };
  return $api.useQuery('get', DELIVERY, init, {
    refetchInterval: ({ state }) => (state.data?.state === 'pending' ? POLL_MS : false),
  });
}

/** The actions on webhooks; each write has the lists read again. */
export function useWebhookActions() {
  const project = useProject();
  const client = useQueryClient();
  const refresh = () =>
    Promise.all(
      ([LIST, DELIVERIES, DELIVERY] as const).map((key) => client.invalidateQueries({ queryKey: keyOf(key) })),
    );
  const onSuccess = () => void refresh();
  const create = $api.useMutation('post', LIST, { onSuccess });
  const change = $api.useMutation('patch', ONE, { onSuccess });
  const rotate = $api.useMutation('post', ROTATE, { onSuccess });
  const test = $api.useMutation('post', TEST, { onSuccess });
  const again = $api.useMutation('post', AGAIN, { onSuccess });
  const at = (webhook_id: string) => ({ path: { project, webhook_id } });
  return {
    refresh,
    create: (body: NewWebhook) => create.mutateAsync({ params: { path: { project } }, body }),
    setActive: (id: string, active: boolean) => change.mutateAsync({ params: at(id), body: { active } }),
    rotate: (id: string) => rotate.mutateAsync({ params: at(id), body: {} }),
    test: (id: string) => test.mutateAsync({ params: at(id) }),
    redeliver: (id: string, delivery_id: string) =>
      again.mutateAsync({ params: { path: { project, webhook_id: id, delivery_id } } }),
    remove: (id: string) => api.DELETE(ONE, { params: at(id) }),
  };
}
