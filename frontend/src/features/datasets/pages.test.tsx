import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { BrowsePage, VersionsPage } from './index';

const version = {
  id: 'v',
  ref: 'v2',
  number: 2,
  message: '',
  file_count: 0,
  size_bytes: 0,
  layers: [],
  created_at: '2026-01-01T00:00:00Z',
  author: null,
};
const dataset = (latest: object | null) => ({ id: 'd', name: 'pets', description: '', latest, versions_count: 2 });
const pack = (extra: object) => ({
  digest: 'ab'.repeat(32),
  size_bytes: 10,
  reason: 'a.png does not match',
  quarantined_at: '2026-01-02T00:00:00Z',
  found_in: 'store',
  push: { id: 'u', created_by: { username: 'bo', full_name: 'Bo' }, created_at: '2026-01-01T00:00:00Z' },
  files_count: 2,
  paths: ['a.png', 'b.png'],
  action: 'Push again.',
  ...extra,
});
const open = (search = '') => renderPage(<BrowsePage />, `/datasets/pets${search}`, '/datasets/$name');

beforeEach(() => {
  localStorage.clear();
  const at = 'projects/{project}/datasets/{dataset}/';
  serve('GET', at, dataset(version));
  serve('GET', `${at}versions/`, listing(version));
  serve('GET', `${at}versions/v2/`, version);
  serve('GET', `${at}branches/`, listing());
  serve('GET', `${at}writers/`, listing());
  serve('GET', `${at}write-jobs/`, listing());
  serve('GET', `${at}tags/`, listing());
  serve('GET', `${at}quarantined-packs/`, listing());
});

test('a version that does not exist is said once, with ways out', async () => {
  const { container } = await open('?ref=v99');
  await screen.findByRole('heading', { name: 'pets' });
  expect(screen.getAllByText('There is no such thing.')).toHaveLength(1);
  expect(screen.getByRole('link', { name: 'Show the latest version, v2' }).getAttribute('href')).toContain('ref=v2');
  screen.getByRole('link', { name: 'Datasets' });
  screen.getByRole('combobox', { name: 'Version' });
  await expectNoViolations(container);
});

test('the versions of a dataset that is not there are one failure, with the way back and nothing to press', async () => {
  serve('GET', 'projects/{project}/datasets/{dataset}/', () => problem(404, 'not_found', 'There is nothing here.'));
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/', () => problem(404, 'not_found', 'Nothing.'));
  await renderPage(<VersionsPage />, '/datasets/pets/versions', '/datasets/$name/versions');
  await screen.findByRole('alert');
  screen.getByRole('heading', { name: 'pets' });
  expect(screen.getAllByRole('alert')).toHaveLength(1);
  screen.getByRole('link', { name: 'Datasets' });
  expect(screen.queryByRole('link', { name: 'Retention and holds' })).toBeNull();
  expect(screen.queryByRole('combobox', { name: 'Branch' })).toBeNull();
});

test.each([
  ['viewer', 0],
  ['researcher', 1],
])('a %s is offered training %i times', async (role, times) => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role, unit: null }));
  await open();
  await screen.findByRole('link', { name: 'Versions' });
  expect(screen.queryAllByRole('link', { name: 'Train on this version' })).toHaveLength(times);
});

test('a damaged pack is named with its push, its files and the command that mends it', async () => {
  serve('GET', 'projects/{project}/datasets/{dataset}/', dataset(null));
  serve('GET', 'projects/{project}/datasets/{dataset}/quarantined-packs/', listing(pack({})));
  const { container } = await open();
  const notice = await screen.findByRole('alert');
  expect(notice.textContent).toContain('1 pack of this dataset is damaged');
  expect(notice.textContent).toContain('pushed by Bo');
  expect(notice.textContent).toContain('a.png, b.png');
  expect(notice.textContent).toContain('atom data push ./pets pets');
  expect(screen.queryByRole('button', { name: 'Close' })).toBeNull();
  await expectNoViolations(container);
});

test('a pack that was refused on its way in is said once', async () => {
  serve('GET', 'projects/{project}/datasets/{dataset}/', dataset(null));
  const refused = pack({ found_in: 'upload', files_count: 0, paths: [] });
  serve('GET', 'projects/{project}/datasets/{dataset}/quarantined-packs/', listing(refused));
  const { unmount } = await open();
  expect((await screen.findByRole('alert')).textContent).toContain('was refused. No version uses it.');
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  unmount();
  await open();
  await screen.findByText('No version yet');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a dataset without a version shows the command for what people have', async () => {
  serve('GET', 'projects/{project}/datasets/{dataset}/', dataset(null));
  const { container } = await open();
  await screen.findByText('atom data push ./pets pets');
  await userEvent.click(screen.getByRole('combobox', { name: 'What you have' }));
  await userEvent.click(await screen.findByRole('option', { name: 'COCO annotations' }));
  screen.getByText('atom data import annotations/instances_train.json pets --format coco');
  screen.getByText('With --dry-run it only shows what would be imported and left out.');
  await expectNoViolations(container);
});

test.each([
  [
    { kind: 'import', import: { source: 'pets.zip', importer: 'coco', counts: { files: 3, objects: 1, skipped: 2 } } },
    'Imported from pets.zip (coco) · 3 files · 1 object · 2 left out',
  ],
  [
    { kind: 'import', import: { source: 'x', importer: 'voc', counts: { files: 1, lost_objects: 2, lost_labels: 1 } } },
    'Imported from x (voc) · 1 file · 3 objects or labels lost',
  ],
  [
    { kind: 'run', run: '0199', inputs: ['dashcam@v2', 7], counts: { broken: 1 } },
    'Made by a run · from dashcam@v2 · 1 broken video left out',
  ],
  [{ kind: 'write', run: '0199', writer: '0200', inputs: ['digits@v3'] }, 'Made by a run · from digits@v3'],
  [
    {
      kind: 'push',
      made_by: {
        run: '0199',
        number: 7,
        code: { digest: 'abcdef0123456789', commit: '0123456789abcdef', dirty: true },
        environment: { digest: 'fedcba9876543210', python: '3.11' },
      },
    },
    'Made by run #7 · commit 0123456789ab with changes · code abcdef012345 · Python 3.11, environment fedcba987654',
  ],
  [
    {
      kind: 'run',
      run: 'a lie',
      made_by: { run: '0199', number: 7, workflow: { name: 'video-frames', version: '2' } },
    },
    'Made by run #7 · workflow video-frames 2',
  ],
  [{ kind: 'push', made_by: { run: '0199', code: 'many', environment: { digest: 7 } } }, 'Made by a run'],
  [{ kind: 'import', import: { source: 'x.zip', importer: 7, counts: 'many' } }, 'Imported from x.zip () · 0 files'],
])('a version says in words where it came from: %#', async (provenance, words) => {
  const at = 'projects/{project}/datasets/{dataset}/';
  serve('GET', `${at}versions/v2/`, { ...version, provenance });
  const { container } = await open('?ref=v2');
  await screen.findByRole('heading', { name: 'pets' });
  await waitFor(() => expect(container.textContent.replaceAll('\u00a0', ' ')).toContain(words));
});

test('the digests of a version that a run made can be copied whole', async () => {
  const made_by = { run: '0199', number: 7, code: { digest: 'abcdef0123456789' } };
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/v2/', { ...version, provenance: { made_by } });
  await open('?ref=v2');
  const link = await screen.findByRole('link', { name: 'Made by run #7' });
  expect(link.getAttribute('href')).toBe('/runs/0199');
  const line = link.parentElement as HTMLElement;
  within(line).getByRole('button', { name: 'Copy abcdef0123456789' });
  await expectNoViolations(line);
});

test('a count that stopped says from where on nobody looked', async () => {
  const at = 'projects/{project}/datasets/{dataset}/';
  const none = { unreadable: 0, unreadable_paths: [], unsplit: 0, unsplit_paths: [] };
  const stats = { labels: {}, splits: {}, media_types: {}, unlabelled: 0, ...none };
  serve('GET', `${at}versions/v2/stats/`, stats);
  serve('GET', `${at}views/`, listing());
  const counted = { total: 3, total_is_exact: false, counted_before: 'm/1.png' };
  serve('GET', `${at}versions/v2/entries/`, { ...listing(), folders: [], ...counted });
  await open('?where=size%20%3E%201');
  await screen.findByText('at least 3 files · not looked at from m/1.png on');
});

test('files in no split are counted, named and shown by a link', async () => {
  const at = 'projects/{project}/datasets/{dataset}/';
  serve('GET', `${at}versions/v2/stats/`, {
    labels: {},
    splits: { train: 7, val: 2 },
    media_types: {},
    unlabelled: 0,
    unreadable: 0,
    unreadable_paths: [],
    unsplit: 3,
    unsplit_paths: ['sub/a.png', 'sub/b.png'],
  });
  await open();
  const notice = (await screen.findByText('3 files are in no split and count as train.')).closest('[role=alert]');
  expect(notice?.textContent).toContain('sub/a.png, sub/b.png …');
  const link = screen.getByRole('link', { name: 'Show them' });
  expect(new URLSearchParams(link.getAttribute('href')?.split('?')[1]).get('where')).toBe('split is null');
});

test('files that look like annotations are offered for import, until they are put away', async () => {
  const signs = {
    files: 13,
    pictures: 12,
    archives: [],
    archives_total: 0,
    signs: [{ format: 'coco', files: 1, first: 'annotations/instances_train.json' }],
    is_complete: true,
    imported: false,
  };
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/v2/import-signs/', signs);
  await open('?ref=v2');
  const offer = await screen.findByRole('link', { name: 'Look and import' });
  expect(offer.getAttribute('href')).toContain('/datasets/pets/import?ref=v2');
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(screen.queryByRole('link', { name: 'Look and import' })).toBeNull();
  expect(localStorage.getItem('atom-import-offer/vision/pets')).toContain('instances_train.json');
});

test('what an import made is not offered again, and names its run', async () => {
  const origin = { kind: 'import', import: { source: 'pets@v1:pets.zip', importer: 'coco', counts: { files: 12 } } };
  const provenance = { ...origin, made_by: { run: '0199', number: 7 } };
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/v2/', { ...version, provenance });
  const signs = { files: 1, pictures: 0, archives: [{ path: 'a.zip', size_bytes: 1 }], archives_total: 1, signs: [] };
  const seen = { ...signs, is_complete: true, imported: true };
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/v2/import-signs/', seen);
  await open('?ref=v2');
  expect((await screen.findByRole('link', { name: 'Made by run #7' })).getAttribute('href')).toContain('/runs/0199');
  expect(screen.queryByRole('link', { name: 'Look and import' })).toBeNull();
});
