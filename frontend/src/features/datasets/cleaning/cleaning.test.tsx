import { act, fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { CleaningPage } from '../index';

const AT = 'projects/{project}/datasets/{dataset}/versions/v2/';
const REPORT = 'projects/{project}/cleaning/r1/';
const THRESHOLDS = { near_distance: 4, tiny_side_px: 32, dark_bright: 0.25, blur_sharpness: 20 };
const KINDS = ['unreadable', 'too_large', 'exact_duplicate', 'near_duplicate', 'leak', 'tiny', 'dark', 'blurred'];
const counts = (found: Record<string, [number, number]>) =>
  KINDS.map((kind) => ({ kind, items: found[kind]?.[0] ?? 0, groups: found[kind]?.[1] ?? 0 }));
const report = (state: string, extra: object = {}) => ({
  id: 'r1',
  project: 'vision',
  dataset: 'pets',
  ref: 'v2',
  state,
  thresholds: THRESHOLDS,
  image_count: 1200,
  is_partial: false,
  counts: [],
  run: null,
  error: null,
  created_by: { id: 'u', username: 'alice', full_name: 'Alice' },
  created_at: '2026-01-01T00:00:00Z',
  finished_at: null,
  ...extra,
});
const finding = (path: string, extra: object = {}) => ({
  path,
  group: -1,
  stays: false,
  badness: 0.5,
  value: 0.1,
  reason: null,
  width: 64,
  height: 48,
  sharpness: 5,
  entry: {
    path,
    size_bytes: 500,
    digest: 'ab'.repeat(32),
    media_type: 'image/png',
    label: 'cat',
    split: 'train',
    attributes: {},
    media_url: '/media/x',
    thumb_url: null,
  },
  ...extra,
});
const NEAR = [
  finding('a/best.png', { group: 0, stays: true, value: 0 }),
  finding('a/copy.jpg', { group: 0, value: 2 }),
  finding('b/best.png', { group: 1, stays: true, value: 0 }),
  finding('b/copy.jpg', { group: 1, value: 4 }),
];
const READY = report('ready', { counts: counts({ near_duplicate: [2, 2], dark: [2, 0] }) });

const open = (search = '?ref=v2') =>
  renderPage(<CleaningPage />, `/datasets/pets/cleaning${search}`, '/datasets/$name/cleaning');
const bodyOf = (ending: string) => sent.find(({ line }) => line.startsWith('POST') && line.endsWith(ending))?.body;
const findings = () => screen.getAllByRole('button', { pressed: false }).filter(({ dataset }) => dataset.finding);

beforeEach(() => {
  serve('GET', `${AT}cleaning/`, listing({ id: 'r1' }));
  serve('GET', REPORT, READY);
  serve('GET', `${REPORT}findings/`, (_: Request, url: URL) =>
    url.searchParams.get('kind') === 'near_duplicate'
      ? { ...listing(...NEAR), total: 4 }
      : { ...listing(finding('dark/1.png'), finding('dark/2.png')), total: 2 },
  );
  serve('GET', `${REPORT}paths/`, { paths: ['a/copy.jpg', 'b/copy.jpg'], next: null, total: 2 });
});

test('a report is started with its thresholds, followed and cancelled', async () => {
  const running = report('measuring', {
    run: { id: 'run', number: 7, state: 'running', progress: 0.4, progress_text: '480 of 1200 images' },
  });
  serve('GET', `${AT}cleaning/`, listing());
  serve('POST', `${AT}cleaning/`, () => {
    serve('GET', `${AT}cleaning/`, listing({ id: 'r1' }));
    serve('GET', REPORT, running);
    return running;
  });
  serve('POST', `${REPORT}cancel/`, () => {
    serve('GET', REPORT, report('cancelled'));
    return report('cancelled');
  });
  const { container } = await open();
  await screen.findByRole('heading', { name: 'Look for what is wrong in pets@v2' });
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Start the report' }));
  await screen.findByText('480 of 1200 images');
  expect(bodyOf('cleaning/')).toEqual(THRESHOLDS);
  expect(screen.getByRole('link', { name: 'Run 7' }).getAttribute('href')).toContain('/runs/run');
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  await screen.findByText('The report was cancelled.');
});

test('a threshold that the server refuses has the focus', async () => {
  serve('GET', `${AT}cleaning/`, listing());
  serve('POST', `${AT}cleaning/`, () => {
    const body = { status: 400, code: 'invalid', title: 'No.', errors: { dark_bright: ['Too much.'] } };
    return new Response(JSON.stringify(body), { status: 400 });
  });
  await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Start the report' }));
  const field = screen.getByRole('textbox', { name: /dark/i });
  await eventually(() => expect(document.activeElement).toBe(field));
});

test('duplicates stand in groups; the best of each is kept when all are selected and removed', async () => {
  serve('POST', `${REPORT}removals/`, { id: 'c', state: 'published', version: { ref: 'v3' }, error: null });
  const { container } = await open();
  const group = await screen.findByRole('group', { name: 'Group 1: 2 files' });
  within(group).getByText('stays');
  within(group).getByText(/2 of 64 bits differ/);
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Select 2, keep the best of each group' }));
  const bar = await screen.findByRole('toolbar', { name: '2 files selected' });
  await userEvent.click(within(bar).getByRole('button', { name: 'Remove from the dataset' }));
  expect(findings().map(({ title }) => title)).toEqual(['a/best.png', 'b/best.png']);
  // The toast's time to undo is over when the page is left.
  act(() => void window.dispatchEvent(new Event('pagehide')));
  await eventually(() => expect(bodyOf('removals/')).toEqual({ branch: 'main', paths: ['a/copy.jpg', 'b/copy.jpg'] }));
});

test('the report stays in sight when its removal moves the branch that it was asked of', async () => {
  serve('POST', `${REPORT}removals/`, () => {
    // The branch has a new version then, which nobody looked through.
    serve('GET', `${AT}cleaning/`, listing());
    return { id: 'c', state: 'published', version: { ref: 'v3' }, error: null };
  });
  await open('?ref=v2&kind=dark');
  await userEvent.click(await screen.findByTitle('dark/1.png'));
  await userEvent.click(screen.getByRole('button', { name: 'Remove from the dataset' }));
  act(() => void window.dispatchEvent(new Event('pagehide')));
  await eventually(() => expect(sent.some(({ line }) => line.endsWith('removals/'))).toBe(true));
  await eventually(() => expect(screen.queryByTitle('dark/1.png')).toBeNull());
  await screen.findByTitle('dark/2.png');
  expect(screen.queryByRole('button', { name: 'Start the report' })).toBeNull();
});

test('a removal that is refused does not bring back what another removes', async () => {
  serve('POST', `${REPORT}removals/`, async (request: Request) =>
    (await request.text()).includes('a/copy.jpg')
      ? problem(409, 'findings_outdated', 'The branch has other files.')
      : { id: 'c', state: 'published', version: { ref: 'v3' }, error: null },
  );
  await open('?ref=v2&kind=near_duplicate');
  for (const path of ['a/copy.jpg', 'b/copy.jpg']) {
    await userEvent.click(await screen.findByTitle(path));
    await userEvent.click(screen.getByRole('button', { name: 'Remove from the dataset' }));
  }
  act(() => void window.dispatchEvent(new Event('pagehide')));
  await screen.findByTitle('a/copy.jpg');
  expect(screen.queryByTitle('b/copy.jpg')).toBeNull();
});

test('what the server refuses to remove comes back', async () => {
  serve('POST', `${REPORT}removals/`, problem(409, 'findings_outdated', 'The branch has other files.'));
  await open('?ref=v2&kind=dark');
  await userEvent.click(await screen.findByTitle('dark/1.png'));
  await userEvent.click(screen.getByRole('button', { name: 'Remove from the dataset' }));
  expect(screen.queryByTitle('dark/1.png')).toBeNull();
  act(() => void window.dispatchEvent(new Event('pagehide')));
  await screen.findByTitle('dark/1.png');
});

test('selected findings become a label task with the labels of the version', async () => {
  serve('GET', `${AT}stats/`, { labels: { dog: 3, cat: 5 }, splits: {}, unlabelled: 0 });
  serve('POST', 'projects/{project}/labelx/tasks/', { id: 't1' });
  await open('?ref=v2&kind=dark');
  const first = await screen.findByTitle('dark/1.png');
  fireEvent.click(first);
  fireEvent.click(screen.getByTitle('dark/2.png'), { shiftKey: true });
  await userEvent.click(screen.getByRole('button', { name: 'Send to labeling' }));
  const dialog = await screen.findByRole('dialog', { name: 'Send 2 files to labeling' });
  const name = await within(dialog).findByDisplayValue('Clean pets@v2: Dark');
  await eventually(() => expect(document.activeElement).toBe(name));
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Make the task' }));
  await eventually(() =>
    expect(bodyOf('labelx/tasks/')).toEqual({
      name: 'Clean pets@v2: Dark',
      dataset: 'pets@v2',
      labels: [{ name: 'cat' }, { name: 'dog' }],
      filter: { labelled: null, paths: ['dark/1.png', 'dark/2.png'] },
    }),
  );
});

test('nothing found is good news, and a failure says what to do', async () => {
  serve('GET', REPORT, report('ready', { counts: counts({}) }));
  const { unmount, container } = await open();
  await screen.findByText('Nothing was found');
  await expectNoViolations(container);
  unmount();
  const error = { code: 'measuring_failed', detail: 'Run 7 is failed.', action: 'Read the log of the run.' };
  serve('GET', REPORT, report('failed', { error }));
  await open();
  expect((await screen.findByRole('alert')).textContent).toContain('Run 7 is failed.');
  screen.getByText('Read the log of the run.');
});
