import { serve } from '@/test/fakeApi';

export const node = (name: string, extra: object = {}) => ({
  id: name,
  name,
  cpu_count: 32,
  memory_bytes: 2 ** 38,
  gpu_count: 4,
  gpu_model: '',
  accelerators: [{ kind: 'nvidia.com/gpu', count: 4, resource: 'nvidia.com/gpu', used: 0 }],
  schedulable: true,
  ready: true,
  heartbeat_at: null,
  used: { cpus: 8, memory_bytes: 2 ** 37, gpus: 0 },
  ...extra,
});
export const cluster = (extra: object = {}) => ({
  id: 'c1',
  name: 'far',
  kind: 'kubernetes',
  state: 'ready',
  single_user: false,
  heartbeat_at: '2026-01-01T00:00:00Z',
  nodes: [node('n1'), node('n2', { schedulable: false })],
  ...extra,
});
export const finding = (level: string, code: string, detail: string, extra: object = {}) => ({
  code,
  level,
  detail,
  detail_code: `clusters.${code}`,
  detail_params: {},
  evidence: {},
  ...extra,
});
export const YAML = 'kind: ClusterRole';
export const missing = finding('fail', 'rights_missing', 'The account lacks 1 of 9 rights.', {
  detail_params: { count: 1, all: 9 },
  evidence: { yaml: YAML },
});
export const whole = (extra: object = {}) =>
  cluster({
    checked_at: '2026-01-01T00:00:00Z',
    version: 'v1.36.2',
    accelerators: { 'nvidia.com/gpu': 8 },
    prices: [{ kind: 'nvidia.com/gpu', per_hour: '2.5000', currency: 'EUR' }],
    stores: [],
    server: 'https://far.example:6443',
    namespace: 'atom',
    projects: null,
    facts: {},
    findings: [finding('ok', 'clock', 'The clocks agree.'), missing],
    problem: null,
    ...extra,
  });

/** The profile of a cluster that has none of its own. */
export const profile = (extra: object = {}) => ({
  priority_class: '',
  tolerations: [],
  rdma_resource: '',
  rdma_count: 1,
  nccl: {},
  memlock_bytes: null,
  image_repository: '',
  has_image_credentials: false,
  rdma: { state: 'unused', detail: null, detail_code: null, detail_params: {}, tested_at: null, node: '' },
  ...extra,
});

/** A quota without any limit. */
export const quota = (extra: object = {}) => ({
  cpus: null,
  memory_bytes: null,
  pods: null,
  accelerators: {},
  ...extra,
});

/** A cluster in which no project has a queue. */
export const NO_QUEUES = {
  every_project: null,
  projects: [],
  kueue: { version: 'v1beta2', gates: null, cluster_queues: [] },
};

/** Signs somebody in, as an administrator of the installation or not. */
export const signedInAs = (is_admin: boolean) =>
  serve('GET', 'auth/session/', {
    authenticated: true,
    user: { id: 'u', username: 'root', full_name: '', is_admin, administers_units: is_admin, language: 'en' },
  });
