import { useQueryClient } from '@tanstack/react-query';
import { $api, keyOf } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import type { NewStoreRequest, PatchedStoreChangesRequest } from '@/api/schema';

const STORES = '/api/v1/stores/';
const STORE = '/api/v1/stores/{store}/';
const CHECK = '/api/v1/stores/{store}/check/';

/** The second stores by name. */
export const useStores = () => useKeysetRows($api.useInfiniteQuery('get', STORES, {}, KEYSET));

export function useStoreActions() {
  const client = useQueryClient();
  const options = { onSettled: () => client.invalidateQueries({ queryKey: keyOf(STORES) }) };
  const add = $api.useMutation('post', STORES, options);
  const change = $api.useMutation('patch', STORE, options);
  const remove = $api.useMutation('delete', STORE, options);
  const check = $api.useMutation('post', CHECK, options);
  const at = (store: string) => ({ params: { path: { store } } });
  return {
    isChecking: check.isPending,
    add: (body: NewStoreRequest) => add.mutateAsync({ body }),
    change: (store: string, body: PatchedStoreChangesRequest) => change.mutateAsync({ ...at(store), body }),
    remove: (store: string) => remove.mutateAsync(at(store)),
    check: (store: string) => check.mutateAsync(at(store)),
  };
}
