import { keepPreviousData } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type {
  AuditDecision,
  LeasedSlot,
  NewLabelTask,
  NewOntologyVersion,
  OntologyVersion,
  Submission,
  TaskSettings,
} from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import type { ORDERS } from './search';
import type { Values } from './task/taskForm';
import type { Held, Lease } from './workspace/leases';
import { type PageId, sendLeave } from './workspace/pageId';
import type { WorkbenchApi } from './workspace/workbenchApi';

const POLL_MS = 5000;
/** The bytes that a closing page may still send; browsers allow 64 KiB for all such requests together. */
export const KEEPALIVE_BYTES = 48 * 1024;
const inTask = (id: string) => ({ params: { path: { task_id: id } } });

export function useTasks(order: (typeof ORDERS)[number], mine: boolean) {
  const project = useProject();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/projects/{project}/labelx/tasks/',
      { params: { path: { project }, query: { limit: 50, order, ...(mine ? { mine: 'true' as const } : {}) } } },
      { ...KEYSET, refetchInterval: POLL_MS * 2 },
    ),
  );
}

export const useTask = (id: string) =>
  $api.useQuery('get', '/api/v1/labelx/tasks/{task_id}/', inTask(id), { refetchInterval: POLL_MS });

export const useStats = (id: string) =>
  $api.useQuery('get', '/api/v1/labelx/tasks/{task_id}/stats/', inTask(id), { refetchInterval: POLL_MS });

export const TASK_KEY = keyOf('/api/v1/labelx/tasks/{task_id}/');
export const TASKS_KEY = keyOf('/api/v1/projects/{project}/labelx/tasks/');
export const STATS_KEY = keyOf('/api/v1/labelx/tasks/{task_id}/stats/');

/** The key of the counts in the navigation. */
export const OVERVIEW_KEY = keyOf('/api/v1/projects/{project}/overview/');

export const startTask = (id: string) => api.POST('/api/v1/labelx/tasks/{task_id}/start/', inTask(id));
export const pauseTask = (id: string) => api.POST('/api/v1/labelx/tasks/{task_id}/pause/', inTask(id));
export const publishTask = (id: string, partial: boolean) =>
  api.POST('/api/v1/labelx/tasks/{task_id}/publish/', { ...inTask(id), body: { partial } });

export const continueTask = (id: string) => api.POST('/api/v1/labelx/tasks/{task_id}/continue/', inTask(id));
export const settleSkipped = (id: string, how: 'reopen' | 'leave_out', items?: string[]) =>
  api.POST('/api/v1/labelx/tasks/{task_id}/skipped/', { ...inTask(id), body: items ? { how, items } : { how } });
export const unskipAll = (id: string) => api.POST('/api/v1/labelx/tasks/{task_id}/unskip/', inTask(id));
export const changeAuditShare = (id: string, audit_percent: number) =>
  api.PATCH('/api/v1/labelx/tasks/{task_id}/', { ...inTask(id), body: { audit_percent } });

export const changePlan = (id: string, body: TaskSettings) =>
  api.PATCH('/api/v1/labelx/tasks/{task_id}/', { ...inTask(id), body });

/** People who may label in the project, for a picker. */
export function useLabelers(q: string) {
  const project = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/labelx/labelers/',
    { params: { path: { project }, query: { q } } },
    { placeholderData: keepPreviousData },
  );
}

/** The people who hold items and until when, and how many are open for the reader by now. */
export const useWaiting = (id: string, role: 'label' | 'audit', page: string) =>
  $api.useQuery(
    'get',
    '/api/v1/labelx/tasks/{task_id}/waiting/',
    { params: { path: { task_id: id }, query: { role, page } } },
    { refetchInterval: POLL_MS },
  );

/** Replaced pictures that a page names; it counts the others. */
const NAMED_REPLACED = 20;

export function useSkipped(id: string) {
  const query = { skipped: 'true', limit: 50 } as const;
  return $api.useQuery(
    'get',
    '/api/v1/labelx/tasks/{task_id}/items/',
    { params: { path: { task_id: id }, query } },
    { refetchInterval: POLL_MS },
  );
}
/** The first accepted images that a publication left out because their picture was replaced or removed. */
export function useReplaced(id: string, enabled: boolean) {
  const query = { replaced: 'true', limit: NAMED_REPLACED } as const;
  return $api.useQuery(
    'get',
    '/api/v1/labelx/tasks/{task_id}/items/',
    { params: { path: { task_id: id }, query } },
    { enabled },
  );
}

/** Images that people label now, with their holders. */
export const useHeldItems = (id: string) =>
  useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/labelx/tasks/{task_id}/items/',
      { params: { path: { task_id: id }, query: { state: 'labeling', limit: 50 } } },
      { ...KEYSET, refetchInterval: POLL_MS },
    ),
  );

export const freeSlot = (slot_id: string) =>
  api.POST('/api/v1/labelx/slots/{slot_id}/free/', { params: { path: { slot_id } } });

export const WAITING_KEY = keyOf('/api/v1/labelx/tasks/{task_id}/waiting/');
export const ITEMS_KEY = keyOf('/api/v1/labelx/tasks/{task_id}/items/');

export async function createTask(project: string, body: NewLabelTask) {
  const { data } = await api.POST('/api/v1/projects/{project}/labelx/tasks/', { params: { path: { project } }, body });
  return data;
}

export function useVersions(dataset: string) {
  const project = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/datasets/{dataset}/versions/',
    { params: { path: { project, dataset }, query: { limit: 100 } } },
    { enabled: dataset !== '' },
  );
}

/** Classes that the version has already, with how many images each: what a new task probably labels with. */
export function useVersionStats(dataset: string, ref: string) {
  const project = useProject();
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/stats/',
    { params: { path: { project, dataset, ref } } },
    { enabled: dataset !== '' && ref !== '' },
  );
}

/** Classes of a version's objects as labels to start with; null for none. */
export async function versionClasses(project: string, dataset: string) {
  const params = { path: { project }, query: { dataset } };
  const { data } = await api.GET('/api/v1/projects/{project}/labelx/version-classes/', { params });
  return data ?? null;
}

/** How many images a new task would have, and which files it would leave out. */
export function useTaskPreview(
  dataset: string,
  ref: string,
  { modality, prefix, where, unlabelled }: Pick<Values, 'modality' | 'prefix' | 'where' | 'unlabelled'>,
) {
  const project = useProject();
  const labelled = unlabelled ? 'false' : 'any';
  const query = { dataset: `${dataset}@${ref}`, modality, prefix, where, labelled } as const;
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/labelx/task-preview/',
    { params: { path: { project }, query } },
    { enabled: dataset !== '' && ref !== '', placeholderData: keepPreviousData },
  );
}

const slotPath = (slot: Held) => ({
  params: { path: { slot_id: slot.id } },
  body: { lease_no: slot.lease_no },
});

/** Keeps a lease for this page, and says whether it holds. Throws when the server cannot be reached. */
export async function heartbeat(slot: Held, page: string): Promise<Lease> {
  try {
    const { params, body } = slotPath(slot);
    await api.POST('/api/v1/labelx/slots/{slot_id}/heartbeat/', { params, body: { ...body, page } });
    return 'held';
  } catch (error) {
    const { status, code } = asApiError(error);
    if (code === 'lease_elsewhere') return 'elsewhere';
    // Its task or its image may be gone, or the right to label it.
    if (status === 403 || status === 404 || status === 409) return 'lost';
    throw error;
  }
}

/** The labeler's requests that do not depend on the kind of work. */
export function labelerApi(taskId: string, page: PageId): Omit<WorkbenchApi, 'saveDraft'> {
  return {
    async takeUp(everything) {
      const { data } = await api.POST('/api/v1/labelx/tasks/{task_id}/take-up/', {
        ...inTask(taskId),
        body: { page: page.id, from_page: page.from, everything },
      });
      const slots = data?.results ?? [];
      const isReturned = (slot: LeasedSlot) => Boolean(slot.returned_comment) || slot.state === 'returned';
      return { returned: slots.filter(isReturned), leased: slots.filter((slot) => !isReturned(slot)) };
    },
    async lease(count, prefetch) {
      const params = { path: { task_id: taskId }, query: { n: count } };
      const body = { page: page.id, prefetch };
      const leased = api.POST('/api/v1/labelx/tasks/{task_id}/lease/', { params, body });
      return (await unless('task_not_active', leased))?.data?.lease ?? [];
    },
    async show(slots) {
      const shown = slots.map(({ id, lease_no }) => ({ slot: id, lease_no }));
      const { data } = await api.POST('/api/v1/labelx/tasks/{task_id}/show/', {
        ...inTask(taskId),
        body: { page: page.id, slots: shown },
      });
      return (data?.results ?? []).filter(({ ok }) => !ok).map(({ slot }) => slot);
    },
    async submit(submissions: Submission[]) {
      const { data } = await api.POST('/api/v1/labelx/tasks/{task_id}/submit-batch/', {
        ...inTask(taskId),
        body: { submissions },
        keepalive: JSON.stringify(submissions).length < KEEPALIVE_BYTES,
      });
      return data?.results ?? [];
    },
    heartbeat: (slot) => heartbeat(slot, page.id),
    leave() {
      page.remember();
      sendLeave(taskId, page.id);
    },
    returned: page.returned,
    skip(slot, reason) {
      const { params, body } = slotPath(slot);
      return api.POST('/api/v1/labelx/slots/{slot_id}/skip/', { params, body: { ...body, reason } });
    },
    async unskip(slot) {
      const { params } = slotPath(slot);
      const { data } = await api.POST('/api/v1/labelx/slots/{slot_id}/unskip/', { params, body: { page: page.id } });
      return data as LeasedSlot;
    },
  };
}

/** The labeler's requests, as the grid's workbench wants them. */
export function workbenchApi(taskId: string, page: PageId): WorkbenchApi {
  return {
    ...labelerApi(taskId, page),
    async saveDraft(slot, seq, labelId) {
      const draft = api.PUT('/api/v1/labelx/slots/{slot_id}/draft/', {
        params: { path: { slot_id: slot.id } },
        body: { seq, document: { label_id: labelId } },
        keepalive: true,
      });
      // Somebody else has the image now: the heartbeat says so, and no later attempt would do better.
      return unless('stale_lease', draft);
    },
  };
}

/** The reader's work that auditors corrected, the newest first. */
export const useCorrections = (id: string) =>
  $api.useQuery('get', '/api/v1/labelx/tasks/{task_id}/corrections/', inTask(id), { refetchInterval: POLL_MS * 4 });

/** All documents that a picture has had. */
export const useRevisions = (item_id: string) =>
  $api.useQuery('get', '/api/v1/labelx/items/{item_id}/revisions/', { params: { path: { item_id } } });

const inOntology = (ontology_id: string) => ({ params: { path: { ontology_id } } });

export async function addOntologyVersion(ontology: string, body: NewOntologyVersion): Promise<OntologyVersion> {
  const path = '/api/v1/labelx/ontologies/{ontology_id}/versions/' as const;
  const { data } = await api.POST(path, { ...inOntology(ontology), body });
  return data as OntologyVersion;
}

/** Changes a version that nobody works with yet. */
export async function editOntologyVersion(
  ontology_id: string,
  number: number,
  body: NewOntologyVersion,
): Promise<OntologyVersion> {
  const path = '/api/v1/labelx/ontologies/{ontology_id}/versions/{number}/' as const;
  const { data } = await api.PUT(path, { params: { path: { ontology_id, number } }, body });
  return data as OntologyVersion;
}

export const moveToVersion = (id: string, ontology_version: string) =>
  api.POST('/api/v1/labelx/tasks/{task_id}/ontology/', { ...inTask(id), body: { ontology_version } });

const PICTURES_PATH = '/api/v1/projects/{project}/labelx/guideline-pictures/';
export const PICTURES_KEY = keyOf(PICTURES_PATH);

/** The pictures of the project's guidelines, newest first. */
export function usePictures() {
  const project = useProject();
  const init = { params: { path: { project }, query: { limit: 50 } } };
  return useKeysetRows($api.useInfiniteQuery('get', PICTURES_PATH, init, KEYSET));
}

export const deletePicture = (project: string, picture_id: string) =>
  api.DELETE('/api/v1/projects/{project}/labelx/guideline-pictures/{picture_id}/', {
    params: { path: { project, picture_id } },
  });

/** Submissions to look at; with `everything`, also those that another open window of the person holds. */
export async function leaseAudit(taskId: string, count: number, page: PageId, everything = false) {
  const params = { path: { task_id: taskId }, query: { n: count } };
  const body = { page: page.id, from_page: page.from, everything };
  const leased = api.POST('/api/v1/labelx/tasks/{task_id}/audit-lease/', { params, body });
  return (await unless('task_not_active', leased))?.data?.lease ?? [];
}

/** Null for a refusal that is an answer: a task that is not active hands out nothing, for one. */
export async function unless<T>(code: string, asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (asApiError(error).code === code) return null;
    throw error;
  }
}

export async function sendAudit(decisions: AuditDecision[]) {
  const { data } = await api.POST('/api/v1/labelx/audits/', { body: { decisions } });
  return data?.results ?? [];
}
