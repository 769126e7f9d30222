import { useQueryClient } from '@tanstack/react-query';
import { $api } from '@/api/client';
import type { NewWarmPlan, NewWarmSchedule, WarmPlan } from '@/api/contract/datasets';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';
import type { VersionAddress } from '../queries';
import type { PLAN_STATES } from './search';

const PLANS = '/api/v1/projects/{project}/warm-plans/';
const CANCEL = '/api/v1/projects/{project}/warm-plans/{plan_id}/cancel/';
const PLAN = '/api/v1/projects/{project}/warm-plans/{plan_id}/';
const VERSION_PLANS = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/warm-plans/';
const CHOICES = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/warm-choices/';
const SCHEDULES = '/api/v1/projects/{project}/warm-schedules/';
const SCHEDULE = '/api/v1/projects/{project}/warm-schedules/{schedule_id}/';
const PAUSE = '/api/v1/projects/{project}/warm-schedules/{schedule_id}/pause/';
const RESUME = '/api/v1/projects/{project}/warm-schedules/{schedule_id}/resume/';
const NEW_SCHEDULE = '/api/v1/projects/{project}/datasets/{dataset}/warm-schedules/';
const PAGE = 20;
const SCHEDULES_PAGE = 200;
const RUNNING_POLL_MS = 2000;
const IDLE_POLL_MS = 15_000;

export type PlanState = (typeof PLAN_STATES)[number];

interface Pages {
  pages: { results: WarmPlan[] }[];
}

/** Bytes come without an event: while a plan runs, it is asked for all the time. */
function usePlanPoll() {
  const every = usePollMs();
  return (data: Pages | undefined) =>
    data?.pages.some(({ results }) => results.some(isRunning)) ? RUNNING_POLL_MS : every(IDLE_POLL_MS);
}

export const isRunning = ({ state }: Pick<WarmPlan, 'state'>) => state === 'running';

/** The project's plans, newest first; of one state if it is named. */
export function useWarmPlans(state: PlanState | undefined) {
  const project = useProject();
  const poll = usePlanPoll();
  const init = { params: { path: { project }, query: { state, limit: PAGE } } };
  const options = { ...KEYSET, refetchInterval: (query: { state: { data?: Pages } }) => poll(query.state.data) };
  return useKeysetRows($api.useInfiniteQuery('get', PLANS, init, options));
}

/** One plan by its id, while it is asked for. */
export function useWarmPlan(plan_id: string | undefined) {
  const project = useProject();
  const every = usePollMs();
  const init = { params: { path: { project, plan_id: plan_id ?? '' } } };
  return $api.useQuery('get', PLAN, init, {
    enabled: plan_id !== undefined,
    refetchInterval: ({ state: { data } }) => (data && isRunning(data) ? RUNNING_POLL_MS : every(IDLE_POLL_MS)),
  });
}

/** The plans of a version, newest first. */
export function useVersionPlans({ dataset, ref }: Pick<VersionAddress, 'dataset' | 'ref'>) {
  const project = useProject();
  const poll = usePlanPoll();
  const init = { params: { path: { project, dataset, ref }, query: { limit: PAGE } } };
  const options = { ...KEYSET, refetchInterval: (query: { state: { data?: Pages } }) => poll(query.state.data) };
  return useKeysetRows($api.useInfiniteQuery('get', VERSION_PLANS, init, options));
}

/** The clusters that the project may use, with their nodes that have an agent. */
export function useWarmChoices({ dataset, ref }: Pick<VersionAddress, 'dataset' | 'ref'>, fast: boolean) {
  const project = useProject();
  const init = { params: { path: { project, dataset, ref } } };
  return $api.useQuery('get', CHOICES, init, { refetchInterval: fast ? RUNNING_POLL_MS : IDLE_POLL_MS });
}

/** Reads plans and coverage again. */
function useRefresh() {
  const client = useQueryClient();
  return () =>
    Promise.all(
      [PLAN, PLANS, VERSION_PLANS, CHOICES].map((path) => client.invalidateQueries({ queryKey: ['get', path] })),
    );
}

export function useStartPlan({ dataset, ref }: Pick<VersionAddress, 'dataset' | 'ref'>) {
  const project = useProject();
  const onSuccess = useRefresh();
  const { mutateAsync } = $api.useMutation('post', VERSION_PLANS, { onSuccess });
  return (body: NewWarmPlan) => mutateAsync({ params: { path: { project, dataset, ref } }, body });
}

/** Cancels a plan that runs, or releases the version of one that is done. */
export function useCancelPlan() {
  const project = useProject();
  const onSettled = useRefresh();
  const { mutateAsync } = $api.useMutation('post', CANCEL, { onSettled });
  return (plan_id: string) => mutateAsync({ params: { path: { project, plan_id } } });
}

/** The first page of the project's schedules of plans. */
export function useSchedules() {
  const project = useProject();
  const init = { params: { path: { project }, query: { limit: SCHEDULES_PAGE } } };
  const asked = $api.useQuery('get', SCHEDULES, init, { refetchInterval: IDLE_POLL_MS });
  const { data, error, isPending, refetch } = asked;
  return { rows: data?.results, error, isPending, refetch: () => void refetch() };
}

export function useStartSchedule(dataset: string) {
  const project = useProject();
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries({ queryKey: ['get', SCHEDULES] });
  const { mutateAsync } = $api.useMutation('post', NEW_SCHEDULE, { onSuccess });
  return (body: NewWarmSchedule) => mutateAsync({ params: { path: { project, dataset } }, body });
}

export function useScheduleActions() {
  const project = useProject();
  const client = useQueryClient();
  const options = { onSettled: () => client.invalidateQueries({ queryKey: ['get', SCHEDULES] }) };
  const pause = $api.useMutation('post', PAUSE, options);
  const resume = $api.useMutation('post', RESUME, options);
  const remove = $api.useMutation('delete', SCHEDULE, options);
  const at = (schedule_id: string) => ({ params: { path: { project, schedule_id } } });
  return {
    pause: (id: string) => pause.mutateAsync(at(id)),
    resume: (id: string) => resume.mutateAsync(at(id)),
    remove: (id: string) => remove.mutateAsync(at(id)),
  };
}
