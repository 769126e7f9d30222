export const part = (node: string, extra: object = {}) => ({
  node,
  state: 'warming',
  packs_total: 8,
  packs_present: 4,
  bytes_total: 2 ** 30,
  bytes_present: 2 ** 29,
  rate_bytes_s: 100 * 2 ** 20,
  eta_s: 5.1,
  failures: 0,
  packs_from_peers: 1,
  packs_from_origin: 3,
  error: '',
  error_code: null,
  error_params: null,
  ...extra,
});

export const plan = (extra: object = {}) => ({
  id: '01900000-0000-7000-8000-000000000001',
  dataset: 'pets',
  ref: 'v3',
  cluster: 'east',
  state: 'running',
  copies: 2,
  rate_bytes_s: null,
  deadline: null,
  pinned: false,
  created_by: 'lin',
  created_at: '2026-01-01T00:00:00Z',
  ended_at: null,
  error: '',
  error_code: null,
  error_params: null,
  nodes: [part('gpu-1'), part('gpu-2', { state: 'waiting', rate_bytes_s: 0, eta_s: null })],
  ...extra,
});

export const nodeChoice = (node: string, extra: object = {}) => ({
  node,
  is_reporting: true,
  is_read_only: false,
  problem: '',
  free_bytes: 2 ** 40,
  bytes_present: 0,
  bytes_total: 2 ** 30,
  lacking_bytes: 0,
  ...extra,
});

export const choice = (...nodes: object[]) => ({ cluster: 'east', nodes });

/** This machine's own cache record. */
export const record = (extra: object = {}) => ({
  node: 'here',
  state: 'cold',
  packs_total: 8,
  packs_present: 0,
  bytes_total: 2 ** 30,
  bytes_present: 0,
  coverage: 0,
  rate_bytes_s: 0,
  eta_s: null,
  error: null,
  used_at: null,
  ...extra,
});
