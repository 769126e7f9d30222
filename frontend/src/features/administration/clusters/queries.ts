import { useQueryClient } from '@tanstack/react-query';
import { $api } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import type {
  CacheSettingsRequest,
  ClusterDetail,
  PatchedClusterChangesRequest,
  ProfileChangesRequest,
  QuotasRequest,
  RunQueuesRequest,
} from '@/api/schema';

const CLUSTERS = '/api/v1/clusters/';
const CLUSTER = '/api/v1/clusters/{cluster}/';
const CHECK = '/api/v1/clusters/{cluster}/check/';
const DRAIN = '/api/v1/clusters/{cluster}/drain/';
const RESUME = '/api/v1/clusters/{cluster}/resume/';
const TRY_POD = '/api/v1/clusters/{cluster}/pod-check/';
const RUNS = '/api/v1/clusters/{cluster}/runs/';
const UNKNOWN_JOBS = '/api/v1/clusters/{cluster}/unknown-jobs/';
const PROFILE = '/api/v1/clusters/{cluster}/profile/';
const QUOTAS = '/api/v1/clusters/{cluster}/quotas/';
const QUEUES = '/api/v1/clusters/{cluster}/queues/';
const AGENTS = '/api/v1/clusters/{cluster}/agents/';
const CACHE = '/api/v1/clusters/{cluster}/cache/';
const COVERAGE = '/api/v1/clusters/{cluster}/coverage/';
const DRY_RUN = '/api/v1/clusters/check/';
const POLL_MS = 5000;

/** The first page of clusters that the reader's projects may use; what is free changes all the time. */
export const useClusters = () => $api.useQuery('get', CLUSTERS, {}, { refetchInterval: POLL_MS });

export const useCluster = (cluster: string) =>
  $api.useQuery('get', CLUSTER, { params: { path: { cluster } } }, { refetchInterval: POLL_MS });

/** The open runs of a cluster that the reader may see, newest first. */
export function useClusterRuns(cluster: string) {
  const init = { params: { path: { cluster } } };
  return useKeysetRows($api.useInfiniteQuery('get', RUNS, init, { ...KEYSET, refetchInterval: POLL_MS }));
}

/** The first page of Jobs that belong to no run; the watcher writes them about once a minute. */
export const useUnknownJobs = (cluster: string) =>
  $api.useQuery('get', UNKNOWN_JOBS, { params: { path: { cluster } } }, { refetchInterval: 6 * POLL_MS });

/** The node agents of a cluster, as they last reported; for administrators of the installation. */
export const useAgents = (cluster: string) =>
  $api.useQuery('get', AGENTS, { params: { path: { cluster } } }, { refetchInterval: POLL_MS });

/** How the caches of a cluster's nodes behave; for administrators of the installation. */
export const useCache = (cluster: string) => $api.useQuery('get', CACHE, { params: { path: { cluster } } });

export function useSetCache(cluster: string) {
  const client = useQueryClient();
  const params = { params: { path: { cluster } } };
  const { mutateAsync } = $api.useMutation('put', CACHE, {
    onSuccess: (shown) => client.setQueryData(['get', CACHE, params], shown),
  });
  return (body: CacheSettingsRequest) => mutateAsync({ ...params, body });
}

/** The share of each version on each node: of the reader's projects, of all for administrators of the installation. */
export const useCoverage = (cluster: string) =>
  $api.useQuery('get', COVERAGE, { params: { path: { cluster } } }, { refetchInterval: 2 * POLL_MS });

/** Checks credentials and keeps nothing. */
export const useDryRun = () => $api.useMutation('post', DRY_RUN);

export function useRegister() {
  const client = useQueryClient();
  return $api.useMutation('post', CLUSTERS, {
    onSuccess: () => client.invalidateQueries({ queryKey: ['get', CLUSTERS] }),
  });
}

/** Actions on one cluster; each answers with the cluster, so the page shows it at once. */
export function useClusterActions(cluster: string) {
  const client = useQueryClient();
  const params = { params: { path: { cluster } } };
  const onSuccess = (shown: ClusterDetail) => client.setQueryData(['get', CLUSTER, params], shown);
  const check = $api.useMutation('post', CHECK, { onSuccess });
  const tryPod = $api.useMutation('post', TRY_POD, { onSuccess });
  const drain = $api.useMutation('post', DRAIN, { onSuccess });
  const resume = $api.useMutation('post', RESUME, { onSuccess });
  const change = $api.useMutation('patch', CLUSTER, { onSuccess });
  const remove = $api.useMutation('delete', CLUSTER, {
    onSuccess: () => client.invalidateQueries({ queryKey: ['get', CLUSTERS] }),
  });
  return {
    isPending: [check, tryPod, drain, resume, remove].some((one) => one.isPending),
    check: () => check.mutateAsync(params),
    tryPod: () => tryPod.mutateAsync(params),
    drain: () => drain.mutateAsync(params),
    resume: () => resume.mutateAsync(params),
    remove: () => remove.mutateAsync(params),
    change: (body: PatchedClusterChangesRequest) => change.mutateAsync({ ...params, body }),
  };
}

/** The profile of a cluster's pods; a pod that is tried changes whether RDMA is on. */
export const useProfile = (cluster: string) =>
  $api.useQuery('get', PROFILE, { params: { path: { cluster } } }, { refetchInterval: POLL_MS });

export function useSetProfile(cluster: string) {
  const client = useQueryClient();
  const params = { params: { path: { cluster } } };
  const { mutateAsync } = $api.useMutation('put', PROFILE, {
    onSuccess: async (shown) => {
      client.setQueryData(['get', PROFILE, params], shown);
      await client.invalidateQueries({ queryKey: ['get', CLUSTER, params] });
    },
  });
  return (body: ProfileChangesRequest) => mutateAsync({ ...params, body });
}

/** The quota for every project, and those of the reader's projects. */
export const useQuotas = (cluster: string) => $api.useQuery('get', QUOTAS, { params: { path: { cluster } } });

export function useSetQuotas(cluster: string) {
  const client = useQueryClient();
  const params = { params: { path: { cluster } } };
  const { mutateAsync } = $api.useMutation('put', QUOTAS, {
    onSuccess: (shown) => client.setQueryData(['get', QUOTAS, params], shown),
  });
  return (body: QuotasRequest) => mutateAsync({ ...params, body });
}

/** The queue for every project, those of the reader's projects, and Kueue as the last check saw it. */
export const useQueues = (cluster: string) => $api.useQuery('get', QUEUES, { params: { path: { cluster } } });

export function useSetQueues(cluster: string) {
  const client = useQueryClient();
  const params = { params: { path: { cluster } } };
  const { mutateAsync } = $api.useMutation('put', QUEUES, {
    onSuccess: async (shown) => {
      client.setQueryData(['get', QUEUES, params], shown);
      // The check that follows writes a finding.
      await client.invalidateQueries({ queryKey: ['get', CLUSTER, params] });
    },
  });
  return (body: RunQueuesRequest) => mutateAsync({ ...params, body });
}
