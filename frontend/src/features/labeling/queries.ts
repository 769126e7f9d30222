import { $api, api, keyOf } from '@/api/client';
import type { AuditDecision, LeasedSlot, NewLabelTask, Submission } from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/project';
import type { WorkbenchApi } from './workspace/workbench';

const POLL_MS = 5000;
const inTask = (id: string) => ({ params: { path: { id } } });

export function useTasks() {
  const p = useProject();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/projects/{p}/labelx/tasks/',
      { params: { path: { p }, query: { limit: 50 } } },
      { ...KEYSET, refetchInterval: POLL_MS * 2 },
    ),
  );
}

export const useTask = (id: string) =>
  $api.useQuery('get', '/api/v1/labelx/tasks/{id}/', inTask(id), { refetchInterval: POLL_MS });

export const useStats = (id: string) =>
  $api.useQuery('get', '/api/v1/labelx/tasks/{id}/stats/', inTask(id), { refetchInterval: POLL_MS });

export const TASK_KEY = keyOf('/api/v1/labelx/tasks/{id}/');
export const TASKS_KEY = keyOf('/api/v1/projects/{p}/labelx/tasks/');
export const STATS_KEY = keyOf('/api/v1/labelx/tasks/{id}/stats/');

export const startTask = (id: string) => api.POST('/api/v1/labelx/tasks/{id}/start/', inTask(id));
export const pauseTask = (id: string) => api.POST('/api/v1/labelx/tasks/{id}/pause/', inTask(id));
export const publishTask = (id: string, partial: boolean) =>
  api.POST('/api/v1/labelx/tasks/{id}/publish/', { ...inTask(id), body: { partial } });

export async function createTask(p: string, body: NewLabelTask) {
  const { data } = await api.POST('/api/v1/projects/{p}/labelx/tasks/', { params: { path: { p } }, body });
  return data;
}

export function useDatasets() {
  const p = useProject();
  return $api.useQuery('get', '/api/v1/projects/{p}/datasets/', { params: { path: { p }, query: { limit: 200 } } });
}

export function useVersions(dataset: string) {
  const p = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{p}/datasets/{d}/versions/',
    { params: { path: { p, d: dataset }, query: { limit: 100 } } },
    { enabled: dataset !== '' },
  );
}

/** Classes that the version has already, with how many images each: what a new task probably labels with. */
export function useVersionStats(dataset: string, ref: string) {
  const p = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/stats/',
    { params: { path: { p, d: dataset, ref } } },
    { enabled: dataset !== '' && ref !== '' },
  );
}

/** The labeler's requests, as the workbench wants them. */
export function workbenchApi(taskId: string): WorkbenchApi {
  const slotPath = (slot: LeasedSlot) => ({ params: { path: { id: slot.id } }, body: { lease_no: slot.lease_no } });
  return {
    async myWork() {
      const { data } = await api.GET('/api/v1/labelx/tasks/{id}/my-work/', inTask(taskId));
      const slots = data?.results ?? [];
      const isReturned = (slot: LeasedSlot) => Boolean(slot.returned_comment) || slot.state === 'returned';
      return { returned: slots.filter(isReturned), leased: slots.filter((slot) => !isReturned(slot)) };
    },
    async lease(count) {
      const params = { path: { id: taskId }, query: { n: count } };
      const { data } = await api.POST('/api/v1/labelx/tasks/{id}/lease/', { params });
      return data?.lease ?? [];
    },
    async submit(submissions: Submission[]) {
      const { data } = await api.POST('/api/v1/labelx/tasks/{id}/submit-batch/', {
        ...inTask(taskId),
        body: { submissions },
      });
      return data?.results ?? [];
    },
    heartbeat: (slot) => api.POST('/api/v1/labelx/slots/{id}/heartbeat/', slotPath(slot)),
    release: (slot) => api.POST('/api/v1/labelx/slots/{id}/release/', slotPath(slot)),
    skip: (slot) => api.POST('/api/v1/labelx/slots/{id}/skip/', slotPath(slot)),
    saveDraft: (slot, seq, labelId) =>
      api.PUT('/api/v1/labelx/slots/{id}/draft/', {
        params: { path: { id: slot.id } },
        body: { seq, lease_no: slot.lease_no, document: { label_id: labelId } },
      }),
  };
}

/** Submissions to look at; none once the task is finished, which the last verdict may have done a moment ago. */
export async function leaseAudit(taskId: string, count: number) {
  try {
    const { data } = await api.POST('/api/v1/labelx/tasks/{id}/audit-lease/', {
      params: { path: { id: taskId }, query: { n: count } },
    });
    return data?.lease ?? [];
  } catch (error) {
    if (asApiError(error).code === 'task_not_active') return [];
    throw error;
  }
}

export async function sendAudit(decisions: AuditDecision[]) {
  const { data } = await api.POST('/api/v1/labelx/audits/', { body: { decisions } });
  return data?.results ?? [];
}
