import { Notifications, notifications } from '@mantine/notifications';
import { within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { afterEach, beforeEach, expect } from 'vitest';
import { eventually } from '@/test/eventually';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { BrowsePage, VersionsPage } from '../index';

export const AT = 'projects/{project}/datasets/{dataset}/';
export const version = (number: number, extra: object = {}) => ({
  id: `v${number}`,
  ref: `v${number}`,
  number,
  commit: String(number).repeat(64),
  content_digest: 'cd'.repeat(32),
  message: `Version ${number}`,
  file_count: 2,
  link_count: 0,
  size_bytes: 10,
  added: 1,
  removed: 0,
  changed: 0,
  layers: [],
  parents: [],
  provenance: {},
  created_at: '2026-01-01T00:00:00Z',
  author: null,
  ...extra,
});
export const branch = (name: string, number: number) => ({
  id: name,
  name,
  head: version(number),
  seq: 1,
  ahead: name === 'main' ? 0 : 2,
  behind: name === 'main' ? 0 : 1,
  created_by: 'bob',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
});
export const entry = (path: string, extra: object = {}) => ({
  path,
  size_bytes: 5,
  digest: 'ab'.repeat(32),
  media_type: 'text/plain',
  label: null,
  split: null,
  attributes: {},
  media_url: '/media/x',
  thumb_url: null,
  link: null,
  ...extra,
});
export const preview = (extra: object = {}) => ({
  head: version(2),
  added: 3,
  removed: 0,
  changed: 1,
  labels_changed: 2,
  examples: [{ path: 'new.txt', change: 'added' }],
  conflicts_total: 0,
  conflicts: [],
  contained: false,
  ...extra,
});
export const conflict = (path: string, extra: object = {}) => ({
  path,
  layer: '',
  field: '',
  ours: 'changed',
  theirs: 'removed',
  our_value: '',
  their_value: '',
  other_path: '',
  our_thumb_url: null,
  their_thumb_url: null,
  ...extra,
});
export const asked = (state: string, extra: object = {}) => ({
  id: 'c',
  state,
  unchanged: false,
  error: null,
  ...extra,
});
export const told = (kind: string, extra: object = {}, id = 'c') => ({
  ...asked('building', { kind, branch: 'main', source: kind === 'merge' ? 'fix' : '', version: null, ...extra }),
  created_by: { id: 'b', username: 'bob', full_name: 'Bob' },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  id,
});
export const bodyOf = (end: string) => sent.findLast(({ line }) => line.startsWith('POST') && line.endsWith(end))?.body;

/** Each test has the dataset `pets` with two versions, and no notices. */
export function withDataset(): void {
  beforeEach(() => {
    serve('GET', AT, { id: 'd', name: 'pets', description: '', latest: version(2), versions_count: 2 });
    serve('GET', `${AT}versions/`, listing(version(2, { parents: ['1'.repeat(64), '9'.repeat(64)] }), version(1)));
    serve('GET', `${AT}versions/v2/`, version(2));
    serve('GET', `${AT}versions/v2/entries/`, {
      ...listing(entry('a.txt'), entry('b.txt')),
      total: 2,
      folders: [],
      total_is_exact: true,
    });
    serve('GET', `${AT}branches/`, listing(branch('fix', 1), branch('main', 2)));
    serve('GET', `${AT}writers/`, listing());
    serve('GET', `${AT}write-jobs/`, listing());
    serve(
      'GET',
      `${AT}tags/`,
      listing({ id: 't', name: 'release', version: version(1), created_by: 'ann', created_at: '2026-01-01T00:00:00Z' }),
    );
    serve('GET', `${AT}quarantined-packs/`, listing());
    serve('GET', `${AT}operations/`, listing());
    serve('POST', `${AT}operations/{id}/dismiss/`, {});
  });
  afterEach(() => notifications.clean());
}

/** The page, and where the app shows what has happened. */
const withToasts = (page: ReactNode) => (
  <>
    <Notifications />
    {page}
  </>
);

export const openVersions = () =>
  renderPage(withToasts(<VersionsPage />), '/datasets/pets/versions', '/datasets/$name/versions');
export const openFiles = (search = 'layout=list') =>
  renderPage(withToasts(<BrowsePage />), `/datasets/pets?${search}`, '/datasets/$name');

/** Presses the button, which waits for the preview. */
export async function pressMerge(dialog: HTMLElement) {
  const button = within(dialog).getByRole('button', { name: 'Merge' });
  await eventually(() => expect(button.hasAttribute('disabled')).toBe(false));
  await userEvent.click(button);
}
