import { Notifications } from '@mantine/notifications';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { Described } from './detail/Described';
import { QueuePage, RunsPage } from './index';
import { runsSearch } from './search';

const run = (number: number, extra: object = {}) => ({
  id: `run-${number}`,
  number,
  name: `train-${number}`,
  state: 'succeeded',
  workflow: null,
  created_by: null,
  datasets: [],
  resources: { cpus: 2, memory_bytes: 2 ** 30, gpus: 1 },
  node: null,
  progress: 0.5,
  progress_text: '',
  duration_s: 7200,
  cpu_hours: 4,
  gpu_hours: 2,
  metrics_summary: { loss: 0.25 },
  origin: 'atom',
  experiment: '',
  tags: ['baseline'],
  starred: true,
  revision: 3,
  notes: 'First line\nsecond',
  values: { 'param.lr': 0.01 },
  archived_at: null,
  created_at: '2026-01-01T00:00:00Z',
  started_at: '2026-01-01T00:00:00Z',
  finished_at: '2026-01-01T02:00:00Z',
  attempts: 1,
  ...extra,
});
const RUNS = 'projects/{project}/runs/';
const HEADER = { selector: 'th, th *' };
const sums = { count: 1, states: {}, cpu_hours: 4, gpu_hours: 2 };

test('the address holds search, order and columns, and nothing that is none', () => {
  const found = runsSearch({ q: 'lr>1', sort: '-metric.val/loss', columns: 'param.lr,bogus', workflow: 'train' });
  expect(found).toMatchObject({ q: 'lr>1', sort: '-metric.val/loss', columns: ['param.lr'], workflow: 'train' });
  expect(runsSearch({ sort: 'size' }).sort).toBeUndefined();
});

test('chosen columns are asked for, shown and sorted by; the sums are told', async () => {
  let asked = new URLSearchParams();
  serve('GET', RUNS, (_: Request, url: URL) => {
    asked = url.searchParams;
    return listing(run(1));
  });
  serve('GET', `${RUNS}sums/`, sums);
  const { container } = await renderPage(<RunsPage />, '/runs?q=lr>0&columns=%5B%22param.lr%22%5D&sort=-param.lr');
  await screen.findByText('0.01');
  expect([asked.get('search'), asked.get('sort'), asked.getAll('column')]).toEqual(['lr>0', '-param.lr', ['param.lr']]);
  expect(screen.getByRole('columnheader', { name: 'lr' }).getAttribute('aria-sort')).toBe('descending');
  await screen.findByText('1 run · 4 CPU hours · 2 GPU hours');
  screen.getByRole('img', { name: 'Starred' });
  await expectNoViolations(container);
});

test('filters that are typed at once are all asked for', async () => {
  let asked = new URLSearchParams();
  serve('GET', RUNS, (_: Request, url: URL) => {
    asked = url.searchParams;
    return listing();
  });
  await renderPage(<RunsPage />, '/runs');
  for (const [label, value] of [
    ['Owner', 'rita'],
    ['Tag', 'good'],
  ] as const)
    fireEvent.change(screen.getByLabelText(label), { target: { value } });
  await waitFor(() => expect([asked.get('created_by'), asked.get('tag')]).toEqual(['rita', 'good']));
});

test('where a cluster is registered, runs say theirs and are filtered by it', async () => {
  let asked = new URLSearchParams();
  serve('GET', RUNS, (_: Request, url: URL) => {
    asked = url.searchParams;
    return listing(run(1, { cluster: 'west' }), run(2), run(3, { origin: 'mlflow' }));
  });
  serve('GET', 'clusters/', listing({ name: 'local', kind: 'local' }, { name: 'west', kind: 'kubernetes' }));
  const { container } = await renderPage(<RunsPage />, '/runs?cluster=west');
  // Narrow windows hide the column, and so does this one.
  await screen.findByText('Cluster', HEADER);
  expect(asked.get('cluster')).toBe('west');
  const column = screen
    .getAllByRole('columnheader', { hidden: true })
    .findIndex(({ textContent }) => textContent === 'Cluster');
  const cells = screen.getAllByRole('row', { hidden: true }).map((row) => row.children[column]?.textContent);
  expect(cells.slice(1)).toEqual(['west', 'Atom’s own machines', '–']);
  const filter = screen.getByRole('combobox', { name: 'Cluster' });
  expect(filter).toHaveProperty('value', 'west');
  await userEvent.click(filter);
  await userEvent.click(await screen.findByRole('option', { name: 'Atom’s own machines' }));
  await waitFor(() => expect(asked.get('cluster')).toBe('local'));
  await expectNoViolations(container);
});

test('without a registered cluster nothing of clusters is shown, but a filter of the address can be taken away', async () => {
  serve('GET', RUNS, listing(run(1)));
  serve('GET', 'clusters/', listing({ name: 'local', kind: 'local' }));
  const first = await renderPage(<RunsPage />, '/runs');
  await screen.findByText('train-1');
  expect(screen.queryByText('Cluster', HEADER)).toBeNull();
  expect(screen.queryByRole('combobox', { name: 'Cluster' })).toBeNull();
  first.unmount();
  await renderPage(<RunsPage />, '/runs?cluster=gone');
  expect(await screen.findByRole('combobox', { name: 'Cluster' })).toHaveProperty('value', 'gone');
});

test('a search that cannot be read says where, and how to write it', async () => {
  const body = {
    status: 400,
    code: 'invalid_run_search',
    title: '',
    detail: '',
    errors: { search: ['Character 3: no run is bad.'] },
  };
  serve('GET', RUNS, () => new Response(JSON.stringify(body), { status: 400 }));
  await renderPage(<RunsPage />, '/runs?q=a is:bad');
  await screen.findByText('Character 3: no run is bad.');
  within(screen.getByRole('table', { name: 'How to search' })).getByText('author:me');
});

test('archived runs disappear at once, and are sent when the time to undo is over', async () => {
  serve('GET', RUNS, listing(run(1), run(2, { state: 'running', finished_at: null })));
  serve('POST', `${RUNS}archive/`, { changed: ['run-1'], refused: [] });
  await renderPage(<RunsPage />, '/runs');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select train-1' }));
  await userEvent.click(screen.getByRole('checkbox', { name: 'Select train-2' }));
  await userEvent.click(screen.getByRole('button', { name: 'Archive 1 run' }));
  const told = () => sent.find(({ line }) => line.endsWith('/runs/archive/'));
  await waitFor(() => expect(told()?.body).toEqual({ runs: ['run-1'] }));
});

test('a run that somebody else has brought back already is told as such', async () => {
  serve('GET', RUNS, listing(run(1, { archived_at: '2026-01-02T00:00:00Z' })));
  serve('POST', `${RUNS}restore/`, { changed: [], refused: [] });
  await renderPage(
    <>
      <RunsPage />
      <Notifications />
    </>,
    '/runs?q=is:archived',
  );
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select train-1' }));
  await userEvent.click(screen.getByRole('button', { name: 'Bring 1 run back' }));
  await screen.findByText('1 run was so already.');
  expect(screen.queryByText('1 run is back in the list')).toBeNull();
});

test('tags are added to the runs that are ticked', async () => {
  serve('GET', RUNS, listing(run(1)));
  serve('POST', `${RUNS}tags/`, { changed: ['run-1'], refused: [] });
  await renderPage(<RunsPage />, '/runs');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select train-1' }));
  await userEvent.click(screen.getByRole('button', { name: 'Tag…' }));
  await userEvent.type(await screen.findByRole('combobox', { name: 'Add' }), 'good{Enter}');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  const told = () => sent.find(({ line }) => line.endsWith('/runs/tags/'));
  await waitFor(() => expect(told()?.body).toEqual({ runs: ['run-1'], add: ['good'], remove: [] }));
});

test('notes that somebody else changed meanwhile are shown beside one’s own', async () => {
  serve('PATCH', 'runs/{run_id}/', () => new Response(JSON.stringify({ code: 'run_changed' }), { status: 409 }));
  serve('GET', 'runs/{run_id}/', run(1, { notes: 'what they found', revision: 4 }));
  const { container } = await renderPage(<Described run={run(1) as never} />);
  await expectNoViolations(container);
  await userEvent.click(await screen.findByRole('button', { name: 'Edit notes and tags' }));
  const field = await screen.findByRole('textbox', { name: 'Notes' });
  await userEvent.type(field, '!');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText('what they found');
  expect((field as HTMLTextAreaElement).value).toBe('First line\nsecond!');
  serve('PATCH', 'runs/{run_id}/', run(1));
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  const told = () => sent.filter(({ line }) => line.startsWith('PATCH')).map(({ body }) => body);
  await waitFor(() => expect(told()).toHaveLength(2));
  expect(told().map((body) => (body as { expected_revision: number }).expected_revision)).toEqual([3, 4]);
});

test('the queue says the place, the reason and what is held', async () => {
  const explanation = {
    code: 'no_room',
    answer: '',
    reasons: [{ kind: 'queue', text: '', action: '', params: { ahead: 4 } }],
  };
  const held = { runs: 1, cpus: 2, memory_bytes: 2 ** 30, gpus: 1 };
  serve('GET', 'projects/{project}/queue/', {
    waiting: [{ run: run(1, { state: 'queued' }), position: 5, ahead_elsewhere: 3, explanation }],
    waiting_count: 1,
    waiting_elsewhere: 7,
    holding: [run(2, { state: 'running' })],
    held,
    held_elsewhere: { ...held, runs: 3 },
  });
  const { container } = await renderPage(<QueuePage />, '/runs/queue');
  const row = (await screen.findByRole('link', { name: /train-1/ })).closest('tr') as HTMLElement;
  within(row).getByText('5');
  within(row).getByText('3 runs of other projects come before it');
  screen.getByRole('link', { name: /train-2/ });
  screen.getByText(/This project holds 2 CPUs, 1 GiB, 1 GPU · Other projects hold/);
  screen.getByText('7 runs of other projects wait too');
  await expectNoViolations(container);
});
