import { useQueryClient } from '@tanstack/react-query';
import { $api, api } from '@/api/client';
import type { NewLabelExport, NewLabelImport } from '@/api/contract/labeling';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';

const LIST = '/api/v1/projects/{project}/labelx/transfers/';
const IMPORTS = '/api/v1/projects/{project}/labelx/imports/';
const EXPORTS = '/api/v1/projects/{project}/labelx/exports/';
const TRANSFER = '/api/v1/labelx/transfers/{transfer_id}/';
const CONFIRM = '/api/v1/labelx/transfers/{transfer_id}/confirm/';
const CANCEL = '/api/v1/labelx/transfers/{transfer_id}/cancel/';
const DOWNLOAD = '/api/v1/labelx/transfers/{transfer_id}/download/';

const POLL_MS = 1000;
/** A worker's progress is read at least so often. */
const WORKING_MS = 3000;
const RESTS: ReadonlySet<string> = new Set(['waiting', 'done', 'failed', 'cancelled']);

/** Imports and exports of a dataset's labels, the newest first. */
export function useTransfers(dataset: string) {
  const project = useProject();
  const poll = usePollMs();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      LIST,
      { params: { path: { project }, query: { dataset, limit: 50 } } },
      { ...KEYSET, refetchInterval: poll(POLL_MS * 5) },
    ),
  );
}

/** One of them; asked again while a worker is at it. */
export function useTransfer(id: string) {
  const poll = usePollMs();
  return $api.useQuery(
    'get',
    TRANSFER,
    { params: { path: { transfer_id: id } } },
    {
      refetchInterval: ({ state }) =>
        state.data && !RESTS.has(state.data.state) ? Math.min(poll(POLL_MS), WORKING_MS) : false,
    },
  );
}

/** The label task that an export is about. */
export const useLabelTask = (task_id: string) =>
  $api.useQuery('get', '/api/v1/labelx/tasks/{task_id}/', { params: { path: { task_id } } });

export function useTransferActions() {
  const project = useProject();
  const client = useQueryClient();
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ['get', TRANSFER] });
    await client.invalidateQueries({ queryKey: ['get', LIST] });
  };
  const of = (id: string) => ({ params: { path: { transfer_id: id } } });
  return {
    askImport: async (body: NewLabelImport) =>
      (await api.POST(IMPORTS, { params: { path: { project } }, body })).data?.id,
    askExport: async (body: NewLabelExport) =>
      (await api.POST(EXPORTS, { params: { path: { project } }, body })).data?.id,
    confirm: async (id: string) => {
      await api.POST(CONFIRM, of(id));
      await refresh();
    },
    cancel: async (id: string) => {
      await api.POST(CANCEL, of(id));
      await refresh();
    },
    address: async (id: string) => (await api.GET(DOWNLOAD, of(id))).data?.url ?? '',
  };
}
