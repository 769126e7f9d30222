import { useQueryClient } from '@tanstack/react-query';
import { $api } from '@/api/client';
import type { Machines } from '@/api/schema';

const MACHINES = '/api/v1/machines/';
const CORDON = '/api/v1/machines/{machine_id}/cordon/';
const POLL_MS = 3000;

/** All machines; asked again every few seconds, since runs of every project come and go. */
export const useMachines = () => $api.useQuery('get', MACHINES, {}, { refetchInterval: POLL_MS });

/** Keeps new runs off a machine, or lets it take them again; both answer with all machines. */
export function useCordon() {
  const client = useQueryClient();
  const onSuccess = (machines: Machines) => client.setQueryData(['get', MACHINES, {}], machines);
  const put = $api.useMutation('put', CORDON, { onSuccess });
  const remove = $api.useMutation('delete', CORDON, { onSuccess });
  return {
    error: put.error,
    isPending: put.isPending || remove.isPending,
    cordon: (id: string, reason: string) => put.mutateAsync({ params: { path: { machine_id: id } }, body: { reason } }),
    uncordon: (id: string) => remove.mutateAsync({ params: { path: { machine_id: id } } }),
  };
}
