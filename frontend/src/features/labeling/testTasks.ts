import { vi } from 'vitest';
import { listing, serve } from '@/test/fakeApi';

export const labels = [
  { id: 1, name: 'cat', color: '#5b6bf0', hotkey: '1' },
  { id: 2, name: 'dog', color: '#e8710a', hotkey: '2' },
];
export const task = (extra: object = {}) => ({
  id: 't1',
  name: 'Pets',
  state: 'active',
  modality: 'image-classification',
  dataset: 'pets',
  dataset_ref: 'v2',
  labels,
  guideline: 'Look at the ears.',
  filter: { prefix: '', labelled: false, where: '' },
  filling: null,
  batch_size: 2,
  audit_percent: 10,
  lease_ttl_s: 900,
  assignees: [],
  due_on: null,
  priority: 0,
  pre_label: true,
  left_out: { not_images: 0, unreadable: 0 },
  progress: { total: 10, ready: 4, labeling: 2, audit: 1, rework: 0, accepted: 3, left_out: 0, skipped: 0 },
  left_out_from: { ready: 0, labeling: 0, audit: 0, rework: 0, replaced: 0 },
  my: { leased: 0, returned: 0, to_audit: 1, own_audits: 0 },
  offers: ['label', 'audit', 'pause', 'publish', 'change'],
  continues: null,
  continued_by: null,
  output_version: null,
  created_by: null,
  created_at: '2026-01-01T00:00:00Z',
  ...extra,
});
export const slot = (n: number) => ({
  id: `s${n}`,
  item_id: `i${n}`,
  lease_no: 1,
  expires_at: '2026-01-01T00:00:00Z',
  path: `pets/${n}.png`,
  tiled: false,
  media_url: '/media/x',
  thumb_url: '/media/x',
  draft: null,
  returned_comment: null,
});

/** A refusal with a message per field. */
export const refusal = (code: string, errors: Record<string, string[]>) =>
  new Response(JSON.stringify({ status: 409, code, title: 'No.', detail: '', action: 'Do.', errors }), {
    status: 409,
    headers: { 'content-type': 'application/problem+json' },
  });

/** The beacons that a closing page sent. */
export const beacons: [address: string, form: object][] = [];
export const nobody = { open: 0, elsewhere: 0, skipped: 0, holders: [] };

/** Answers what every page of labeling asks, in a browser that remembers nothing. */
export function serveTask() {
  localStorage.clear();
  sessionStorage.clear();
  beacons.length = 0;
  vi.spyOn(navigator, 'sendBeacon').mockImplementation((address, body) => {
    beacons.push([String(address), Object.fromEntries(body as FormData)]);
    return true;
  });
  serve('GET', 'labelx/tasks/{task_id}/waiting/', nobody);
  serve('POST', 'labelx/tasks/{task_id}/show/', { results: [] });
  serve('GET', 'labelx/tasks/{task_id}/', task());
  serve('GET', 'labelx/tasks/{task_id}/stats/', listing());
}
