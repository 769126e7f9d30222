import { Notifications, notifications } from '@mantine/notifications';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { BrowsePage, VersionsPage } from '../index';

const AT = 'projects/{project}/datasets/{dataset}/';
const version = (number: number, extra: object = {}) => ({
  id: `v${number}`,
  ref: `v${number}`,
  number,
  commit: String(number).repeat(64),
  content_digest: 'cd'.repeat(32),
  message: `Version ${number}`,
  file_count: 2,
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
const branch = (name: string, number: number) => ({
  id: name,
  name,
  head: version(number),
  seq: 1,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
});
const entry = (path: string) => ({
  path,
  size_bytes: 5,
  digest: 'ab'.repeat(32),
  media_type: 'text/plain',
  label: null,
  split: null,
  attributes: {},
  media_url: '/media/x',
  thumb_url: null,
});
const preview = (extra: object = {}) => ({
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
const conflict = (path: string, extra: object = {}) => ({
  path,
  layer: '',
  field: '',
  ours: 'changed',
  theirs: 'removed',
  our_value: '',
  their_value: '',
  other_path: '',
  ...extra,
});
const asked = (state: string, extra: object = {}) => ({ id: 'c', state, unchanged: false, error: null, ...extra });
const told = (kind: string, extra: object = {}, id = 'c') => ({
  ...asked('building', { kind, branch: 'main', source: kind === 'merge' ? 'fix' : '', version: null, ...extra }),
  created_by: { id: 'b', username: 'bob', full_name: 'Bob' },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  id,
});
const bodyOf = (end: string) => sent.findLast(({ line }) => line.startsWith('POST') && line.endsWith(end))?.body;

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
  serve('GET', `${AT}tags/`, listing({ id: 't', name: 'release', version: version(1) }));
  serve('GET', `${AT}quarantined-packs/`, listing());
  serve('GET', `${AT}operations/`, listing());
  serve('POST', `${AT}operations/{id}/dismiss/`, {});
});

/** The page, and where the app shows what has happened. */
const withToasts = (page: ReactNode) => (
  <>
    <Notifications />
    {page}
  </>
);
afterEach(() => notifications.clean());

const openVersions = () =>
  renderPage(withToasts(<VersionsPage />), '/datasets/pets/versions', '/datasets/$name/versions');
const openFiles = () => renderPage(withToasts(<BrowsePage />), '/datasets/pets?layout=list', '/datasets/$name');

test('branches, tags and both parents of a merge are listed', async () => {
  const { container } = await openVersions();
  const branches = await screen.findByRole('table', { name: 'Branches' });
  expect(await within(branches).findByText('fix')).toBeTruthy();
  // The branch that always exists cannot be deleted.
  expect(within(branches).queryByRole('button', { name: 'Delete main' })).toBeNull();
  expect(within(branches).getByRole('button', { name: 'Delete fix' })).toBeTruthy();
  within(screen.getByRole('table', { name: 'Tags' })).getByText('release');
  const history = screen.getByRole('table', { name: 'Versions' });
  expect(within(history).getByRole('link', { name: '99999999' }).getAttribute('href')).toContain('9'.repeat(64));
  await expectNoViolations(container);
});

test('a branch is never offered to be merged into itself', async () => {
  serve('POST', `${AT}merges/preview/`, preview());
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await userEvent.click(within(dialog).getByRole('combobox', { name: 'Into the branch' }));
  expect(screen.getAllByRole('option').map((option) => option.textContent)).toEqual(['main']);
});

test('a dataset with one branch has nothing to merge', async () => {
  serve('GET', `${AT}branches/`, listing(branch('main', 2)));
  await openVersions();
  const branches = await screen.findByRole('table', { name: 'Branches' });
  await within(branches).findByText('main');
  expect(screen.queryByRole('button', { name: /^Merge/ })).toBeNull();
});

test('a merge with conflicts is sent once a side is chosen', async () => {
  const label = conflict('a.txt', { layer: 'labels', field: 'label', our_value: 'cat', their_value: 'dog' });
  const sides = { ours: 'added', theirs: 'added', our_value: '{"camera": "A"}', their_value: '{"iso": 100}' };
  const attributes = conflict('c.txt', { field: 'attributes', ...sides });
  const found = preview({ conflicts_total: 3, conflicts: [label, conflict('b.txt'), attributes] });
  serve('POST', `${AT}merges/preview/`, found);
  serve('POST', `${AT}merges/`, asked('pending'));
  serve('GET', `${AT}commits/c/`, asked('published', { version: version(3) }));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await within(dialog).findByText('3 conflicts: both sides changed the same');
  within(dialog).getByText('here cat, there dog');
  within(dialog).getByText('here changed, there removed');
  within(dialog).getByText('attributes, same bytes');
  within(dialog).getByText('camera: here A, there nothing');
  within(dialog).getByText('iso: here nothing, there 100');
  await expectNoViolations(dialog);

  await userEvent.click(within(dialog).getByRole('button', { name: 'Merge' }));
  await within(dialog).findByText('Choose a side, or cancel and change one of them first.');
  expect(bodyOf('merges/')).toBeUndefined();
  await userEvent.click(within(dialog).getByRole('radio', { name: 'the other side (fix)' }));
  await userEvent.click(within(dialog).getByRole('button', { name: 'Merge' }));

  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(bodyOf('merges/')).toEqual({ source: 'fix', branch: 'main', on_conflict: 'theirs', message: '' });
});

/** Presses the button, which waits for the preview. */
async function pressMerge(dialog: HTMLElement) {
  const button = within(dialog).getByRole('button', { name: 'Merge' });
  await vi.waitFor(() => expect(button.hasAttribute('disabled')).toBe(false));
  await userEvent.click(button);
}

test('a merge that the server refuses says why and what to do', async () => {
  serve('POST', `${AT}merges/preview/`, preview());
  const error = { code: 'head_moved', detail: 'main is elsewhere.', action: 'Merge again.', head: null };
  serve('POST', `${AT}merges/`, asked('conflict', { error }));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await pressMerge(dialog);
  expect((await within(dialog).findByRole('alert')).textContent).toContain('Merge again.');
});

test('a merge shows how far it is, and is cancelled', async () => {
  const step = { state: 'building', stage: 'comparing', progress: 0.2, cancellable: true };
  let request = asked('building', { ...step, rows_done: 1200, rows_total: 4000 });
  serve('POST', `${AT}merges/preview/`, preview());
  serve('POST', `${AT}merges/`, () => request);
  serve('GET', `${AT}commits/c/`, () => request);
  serve('POST', `${AT}commits/c/cancel/`, () => {
    const error = { code: 'commit_cancelled', detail: 'Alice cancelled it.', action: '', head: null };
    request = asked('cancelled', { error });
    return request;
  });
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await pressMerge(dialog);
  const bar = await within(dialog).findByRole('progressbar', { name: 'Comparing: 1,200 of 4,000' });
  expect(bar.getAttribute('aria-valuetext')).toBe('20%');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
  await screen.findByText('Cancelled: the branch is as it was.');
  // The form is kept, for another try.
  expect(within(dialog).queryByRole('progressbar')).toBeNull();
  expect(within(dialog).queryByRole('alert')).toBeNull();
});

test('a removal that is too late to cancel says so, and is done', async () => {
  let state = asked('building', { stage: 'writing', rows_done: 1, rows_total: 2, progress: 0.8, cancellable: true });
  serve('POST', `${AT}edits/`, () => state);
  serve('GET', `${AT}commits/c/`, () => state);
  serve('GET', `${AT}operations/`, () => listing(...(state.state === 'building' ? [told('edit', state)] : [])));
  serve('POST', `${AT}commits/c/cancel/`, () => {
    state = asked('published', { version: version(3) });
    return problem(409, 'commit_over', 'It is too late to cancel.');
  });
  await openFiles();
  await userEvent.click(await screen.findByRole('checkbox', { name: /a\.txt/ }));
  const bar = await screen.findByRole('toolbar', { name: '1 file selected' });
  await userEvent.click(within(bar).getByRole('button', { name: 'Remove' }));
  // Leaving the page is the end of the time to undo.
  window.dispatchEvent(new Event('pagehide'));
  const row = await screen.findByRole('group', { name: 'Edit of main' });
  within(row).getByRole('progressbar', { name: 'Writing: 1 of 2' });
  await userEvent.click(within(row).getByRole('button', { name: 'Cancel' }));
  await screen.findByText('It is too late to cancel.');
  await screen.findByText('main has a new version: v3');
});

test('what others do to the dataset is shown: how far it is, its version, why it failed and what next', async () => {
  const error = { code: 'merge_conflict', detail: 'Both sides changed a.txt.', action: 'Merge again.', head: null };
  const running = told('merge', { state: 'building', stage: 'reading', progress: 0.4, cancellable: true }, 'r');
  const rows = [
    told('split', { state: 'published', source: '', version: version(7) }, 'd'),
    told('edit', { state: 'published', source: 'pets@v1', unchanged: true }, 'u'),
    // What runs comes first.
    running,
    told('revert', { state: 'conflict', source: 'v1', error }, 'f'),
  ];
  serve('GET', `${AT}operations/`, () => listing(...rows));
  serve('POST', `${AT}commits/r/cancel/`, () => asked('cancelled', rows.splice(rows.indexOf(running), 1)[0]));
  const { container } = await openVersions();
  const merge = await screen.findByRole('group', { name: 'Merge of fix into main' });
  within(merge).getByText(/Bob/);
  await expectNoViolations(container);
  const split = screen.getByRole('group', { name: 'Split of main' });
  const link = within(split).getByRole('link', { name: 'main has a new version: v7' });
  expect(link.getAttribute('href')).toContain('ref=v7');
  within(screen.getByRole('group', { name: 'Copy from pets@v1 to main' })).getByText('Nothing was changed.');
  await userEvent.click(screen.getByRole('button', { name: 'Show 1 more' }));
  const failed = screen.getByRole('group', { name: 'Undo of v1 on main' });
  expect(failed.textContent).toContain('Both sides changed a.txt.Merge again.');
  await userEvent.click(within(merge).getByRole('button', { name: 'Cancel' }));
  await vi.waitFor(() => expect(screen.queryByRole('group', { name: 'Merge of fix into main' })).toBeNull());
  await userEvent.click(within(failed).getByRole('button', { name: 'Dismiss: Undo of v1 on main' }));
  expect(screen.queryByRole('group', { name: 'Undo of v1 on main' })).toBeNull();
  // The server keeps it, for every browser.
  expect(sent.findLast(({ line }) => line.startsWith('POST'))?.line).toMatch(/\/operations\/f\/dismiss\/$/);
});

test('a line that could not be dismissed comes back', async () => {
  serve('GET', `${AT}operations/`, listing(told('split', { state: 'published', version: version(7) }, 'd')));
  serve('POST', `${AT}operations/{id}/dismiss/`, () => problem(403, 'permission_denied', 'Not now.'));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Dismiss: Split of main' }));
  await screen.findByText('Not now.');
  screen.getByRole('group', { name: 'Split of main' });
});

test('all that is over is dismissed at once', async () => {
  const error = { code: 'merge_conflict', detail: 'Both sides changed a.txt.', action: 'Merge again.', head: null };
  const refused = ['a', 'b'].map((id) => told('revert', { state: 'conflict', source: 'v1', error }, id));
  serve('GET', `${AT}operations/`, listing(...refused, told('merge', { state: 'building' }, 'r')));
  serve('POST', `${AT}operations/dismiss/`, {});
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'Dismiss all that are over' }));
  await vi.waitFor(() => expect(screen.queryAllByRole('group', { name: 'Undo of v1 on main' })).toEqual([]));
  screen.getByRole('group', { name: 'Merge of fix into main' });
  expect(screen.queryByRole('button', { name: 'Dismiss all that are over' })).toBeNull();
  expect(sent.filter(({ line }) => line.includes('/dismiss/')).length).toBe(1);
});

test('how an operation ended is told once: by its dialog, or by the page once that is closed', async () => {
  const error = { code: 'merge_conflict', detail: 'Both sides changed a.txt.', action: 'Merge again.', head: null };
  let request = asked('building', { stage: 'reading', progress: 0.4, cancellable: true });
  let id = 'c';
  serve('POST', `${AT}merges/preview/`, preview());
  serve('POST', `${AT}merges/`, () => ({ ...request, id }));
  serve('GET', `${AT}commits/${id}/`, () => request);
  serve('GET', `${AT}operations/`, () => listing(told('merge', request, id)));
  request = asked('conflict', { error });
  await openVersions();
  const open = async () => {
    await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
    const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
    await pressMerge(dialog);
    return dialog;
  };
  const row = () => screen.queryByRole('group', { name: 'Merge of fix into main' });
  const dialog = await open();
  await within(dialog).findByText('Both sides changed a.txt.');
  expect(row()).toBeNull();
  await userEvent.keyboard('{Escape}');
  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());

  id = 'later';
  request = asked('building', { stage: 'reading', progress: 0.4, cancellable: true });
  serve('GET', `${AT}commits/later/`, () => ({ ...request, id }));
  await within(await open()).findByRole('progressbar');
  await userEvent.keyboard('{Escape}');
  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(row()?.textContent).toContain('Reading');
  request = asked('published', { version: version(3) });
  await vi.waitFor(() => expect(row()?.textContent).toContain('main has a new version: v3'), 6000);
  expect(screen.queryByText('fix is merged into main: v3')).toBeNull();
});

test('a new branch begins where one is', async () => {
  serve('POST', `${AT}branches/`, branch('next', 2));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'New branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'New branch' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Next!');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Create' }));
  within(dialog).getByText(/Use lower-case letters/);
  await userEvent.clear(within(dialog).getByRole('textbox', { name: 'Name' }));
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'next');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Create' }));
  await vi.waitFor(() => expect(bodyOf('branches/')).toEqual({ name: 'next', at: 'main' }));
});

test('a version is undone from its menu', async () => {
  serve('POST', `${AT}reverts/preview/`, preview());
  serve('POST', `${AT}reverts/`, asked('published', { version: version(3) }));
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Undo this version…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Undo v2' });
  await within(dialog).findByText('2 labels or splits change');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Undo it' }));
  await vi.waitFor(() =>
    expect(bodyOf('reverts/')).toEqual({ version: 'v2', branch: 'main', on_conflict: 'fail', message: '' }),
  );
});

test('selected files are moved on the branch that they were seen on', async () => {
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  const { container } = await openFiles();
  await userEvent.click(await screen.findByRole('checkbox', { name: /a\.txt/ }));
  const bar = await screen.findByRole('toolbar', { name: '1 file selected' });
  await expectNoViolations(container);
  await userEvent.click(within(bar).getByRole('button', { name: 'Move…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Move files' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Move' }));
  within(dialog).getByText('Write the name of a folder.');
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'To the folder' }), 'kept/');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Move' }));
  await vi.waitFor(() =>
    expect(bodyOf('edits/')).toEqual({
      branch: 'main',
      expected_head: '2'.repeat(64),
      edits: [{ op: 'move', paths: ['a.txt'], to: 'kept/' }],
      message: '',
    }),
  );
});

const choose = async (name: string) => {
  await openFiles();
  await userEvent.click(await screen.findByRole('checkbox', { name: /a\.txt/ }));
  const bar = await screen.findByRole('toolbar', { name: '1 file selected' });
  await userEvent.click(within(bar).getByRole('button', { name }));
};
const type = async (dialog: HTMLElement, name: string, text: string) =>
  await userEvent.type(within(dialog).getByRole('textbox', { name }), text);

test('selected files are taken to a branch once a side is chosen', async () => {
  serve('POST', `${AT}picks/preview/`, preview({ conflicts_total: 1, conflicts: [conflict('a.txt')] }));
  serve('POST', `${AT}picks/`, asked('published', { version: version(3) }));
  await choose('Take paths to a branch…');
  const dialog = await screen.findByRole('dialog', { name: 'Take paths from v2' });
  await within(dialog).findByText('new.txt');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('radio', { name: 'the other side (v2)' }));
  await userEvent.click(within(dialog).getByRole('button', { name: 'Take them' }));
  await vi.waitFor(() =>
    expect(bodyOf('picks/')).toEqual({
      source: 'v2',
      branch: 'main',
      paths: ['a.txt'],
      changes_only: false,
      on_conflict: 'theirs',
      message: '',
    }),
  );
});

test('selected files are copied into a folder, after a look at what that makes', async () => {
  serve('POST', `${AT}edits/preview/`, preview());
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  await choose('Copy…');
  const dialog = await screen.findByRole('dialog', { name: 'Copy files of v2' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  within(dialog).getByText('Write the name of a folder.');
  expect(bodyOf('edits/preview/')).toBeUndefined();
  await type(dialog, 'To the folder', 'old/');
  await within(dialog).findByText('new.txt');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  const edits = [{ op: 'copy', paths: ['a.txt'], to: 'old/', source: 'v2' }];
  await vi.waitFor(() => expect(bodyOf('edits/')).toEqual({ branch: 'main', expected_head: null, edits, message: '' }));
});

test('attributes are set for what the page shows', async () => {
  serve('POST', `${AT}edits/preview/`, preview());
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  await renderPage(<BrowsePage />, '/datasets/pets?layout=list&path=cats/&where=size > 1&view=big', '/datasets/$name');
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Set attributes…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Set attributes on main' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Set them' }));
  within(dialog).getByText('Name an attribute.');
  await type(dialog, 'Attribute 1', 'camera');
  await type(dialog, 'Value 1', 'north');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Another attribute' }));
  await type(dialog, 'Attribute 2', 'iso');
  await within(dialog).findByText('new.txt');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Set them' }));
  const attributes = { camera: 'north', iso: null };
  await vi.waitFor(() =>
    expect(bodyOf('edits/')).toMatchObject({
      branch: 'main',
      expected_head: '2'.repeat(64),
      edits: [{ op: 'set', paths: ['cats/'], where: 'size > 1', view: 'big', attributes }],
    }),
  );
});

test('files of another dataset are copied by a query, once it is said from where and into which folder', async () => {
  serve('GET', 'projects/{project}/datasets/', listing({ id: 'd', name: 'pets' }, { id: 'e', name: 'birds' }));
  serve('POST', `${AT}edits/preview/`, preview({ added: 120 }));
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Copy from another dataset…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Copy files to pets' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  within(dialog).getByText('Choose a dataset.');
  within(dialog).getByText('Write the name of a folder.');
  await userEvent.click(within(dialog).getByRole('combobox', { name: 'From the dataset' }));
  // A dataset is not copied into itself here.
  expect(screen.getAllByRole('option').map((option) => option.textContent)).toEqual(['birds']);
  await userEvent.click(screen.getByRole('option', { name: 'birds' }));
  within(dialog).getByRole('combobox', { name: 'Version' });
  await type(dialog, 'Query', 'size > 1');
  await type(dialog, 'To the folder', 'in');
  await within(dialog).findByText('+120');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  const edits = [{ op: 'copy', paths: [], where: 'size > 1', to: 'in/', source: 'birds@main' }];
  await vi.waitFor(() => expect(bodyOf('edits/')).toEqual({ branch: 'main', expected_head: null, edits, message: '' }));
});

test('datasets to copy from are searched on the server as one types', async () => {
  const names = Array.from({ length: 120 }, (_, number) => `birds-${number}`);
  serve('GET', 'projects/{project}/datasets/', (_request: Request, url: URL) => {
    const fitting = ['pets', ...names].filter((name) => name.includes(url.searchParams.get('q') ?? ''));
    return listing(...fitting.slice(0, Number(url.searchParams.get('limit'))).map((name) => ({ id: name, name })));
  });
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Copy from another dataset…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Copy files to pets' });
  const input = within(dialog).getByRole('combobox', { name: 'From the dataset' });
  await userEvent.click(input);
  await screen.findByRole('option', { name: 'birds-0' });
  expect(screen.queryByRole('option', { name: 'birds-117' })).toBeNull();
  await userEvent.type(input, 'birds-117');
  await userEvent.click(await screen.findByRole('option', { name: 'birds-117' }));
  // What is chosen stays, and all are offered again.
  expect((input as HTMLInputElement).value).toBe('birds-117');
  await userEvent.click(input);
  await screen.findByRole('option', { name: 'birds-0' });
  screen.getByRole('option', { name: 'birds-117' });
});

test('who may only look is offered nothing that changes the dataset', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await screen.findByRole('menuitem', { name: 'Compare' });
  expect(screen.queryByRole('menuitem', { name: 'Copy from another dataset…' })).toBeNull();
});
