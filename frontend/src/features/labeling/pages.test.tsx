import { Notifications } from '@mantine/notifications';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { listenForShortcuts } from '@/shared/ui/shortcuts';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AuditPage, TaskPage, TasksPage, WorkPage } from './index';

const labels = [
  { id: 1, name: 'cat', color: '#5b6bf0', hotkey: '1' },
  { id: 2, name: 'dog', color: '#e8710a', hotkey: '2' },
];
const task = (extra: object = {}) => ({
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
const slot = (n: number) => ({
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
const refusal = (code: string, errors: Record<string, string[]>) =>
  new Response(JSON.stringify({ status: 409, code, title: 'No.', detail: '', action: 'Do.', errors }), {
    status: 409,
    headers: { 'content-type': 'application/problem+json' },
  });

/** The beacons that a closing page sent. */
const beacons: [address: string, form: object][] = [];
const nobody = { open: 0, elsewhere: 0, skipped: 0, holders: [] };
beforeEach(() => {
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
});

test('the list shows how far each task is', async () => {
  serve('GET', 'projects/{project}/labelx/tasks/', listing(task()));
  const { container } = await renderPage(<TasksPage />, '/labeling');
  await screen.findByRole('link', { name: 'Pets' });
  screen.getByText('3 of 10 accepted');
  await expectNoViolations(container);
});

test('the list comes by urgency, shows what is overdue, and keeps its order in the address', async () => {
  const asked: string[] = [];
  serve('GET', 'projects/{project}/labelx/tasks/', (_: Request, url: URL) => {
    asked.push(url.search);
    return listing(task({ due_on: '2020-02-01', priority: 5 }));
  });
  await renderPage(<TasksPage />, '/labeling');
  await screen.findByText('Overdue');
  expect(asked.at(-1)).toContain('order=urgency');
  await userEvent.click(screen.getByRole('switch', { name: 'Only assigned to me' }));
  await waitFor(() => expect(asked.at(-1)).toContain('mine=true'));
});

test('people, due date and priority are changed while people work', async () => {
  serve('GET', 'labelx/tasks/{task_id}/', task({ due_on: '2020-02-01', priority: 5 }));
  serve('GET', 'projects/{project}/labelx/labelers/', [{ username: 'lin', full_name: 'Lin Yu' }]);
  serve('PATCH', 'labelx/tasks/{task_id}/', task());
  const { container } = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText('Everybody who may label');
  expect(screen.getAllByText('Overdue').length).toBeGreaterThan(0);
  await userEvent.click(screen.getByRole('button', { name: 'Change the plan' }));
  await userEvent.click(await screen.findByRole('combobox', { name: 'People' }));
  await userEvent.click(await screen.findByRole('option', { name: 'lin · Lin Yu' }));
  fireEvent.change(screen.getByLabelText('Due'), { target: { value: '2026-12-24' } });
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() =>
    expect(sent.find(({ line }) => line.startsWith('PATCH'))?.body).toEqual({
      assignees: ['lin'],
      due_on: '2026-12-24',
      priority: 5,
      pre_label: true,
    }),
  );
});

test('labels change while people work; a refused version is changed, not added again', async () => {
  const ontology = { id: 'o1', name: 'Pets' };
  serve('GET', 'labelx/tasks/{task_id}/', task({ ontology, schema: {} }));
  serve('POST', 'labelx/ontologies/{ontology_id}/versions/', { id: 'v2', number: 2 });
  serve('PUT', 'labelx/ontologies/{ontology_id}/versions/{number}/', { id: 'v2', number: 2 });
  serve('POST', 'labelx/tasks/{task_id}/ontology/', () => refusal('labels_in_use', {}));
  await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await userEvent.click(await screen.findByRole('button', { name: 'Change labels and guideline' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Add a class' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Name of class 3' }), 'bird');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText('No.');
  serve('POST', 'labelx/tasks/{task_id}/ontology/', task());
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Name of class 3' })).toBeNull());
  const writes = sent.filter(({ line }) => /^(POST|PUT) .*(versions|ontology)\//.test(line));
  expect(writes.map(({ line }) => line.replace('/api/v1/labelx/', ''))).toEqual([
    'POST ontologies/o1/versions/',
    'POST tasks/t1/ontology/',
    'PUT ontologies/o1/versions/2/',
    'POST tasks/t1/ontology/',
  ]);
  expect(writes[2]?.body).toMatchObject({
    labels: [
      { id: 1, name: 'cat' },
      { id: 2, name: 'dog' },
      { id: 3, name: 'bird', tools: ['classification'] },
    ],
    guideline: 'Look at the ears.',
  });
  expect(writes[3]?.body).toEqual({ ontology_version: 'v2' });
});

test('publishing an unfinished task asks first', async () => {
  serve('POST', 'labelx/tasks/{task_id}/publish/', task({ state: 'publishing' }));
  const { container } = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await userEvent.click(await screen.findByRole('button', { name: 'Publish' }));
  await screen.findByText(/7 images are not accepted yet/);
  await userEvent.click(screen.getByRole('button', { name: 'Publish what is accepted' }));
  await waitFor(() => expect(sent.find(({ line }) => line.endsWith('/publish/'))?.body).toEqual({ partial: true }));
  await expectNoViolations(container);
});

test('a batch is labelled by keys: a digit goes on, Enter shows the next batch', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => {
    leases++;
    return { lease: leases > 2 ? [] : [slot(leases * 2), slot(leases * 2 + 1)] };
  });
  const { container } = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '2.png: no class' });
  await expectNoViolations(container);
  const tap = (key: string) => {
    fireEvent.keyDown(window, { key });
    fireEvent.keyUp(window, { key });
  };
  tap('1');
  tap('2');
  await screen.findByRole('option', { name: '2.png: cat' });
  await screen.findByRole('option', { name: '3.png: dog' });
  tap('Enter');
  await screen.findByRole('option', { name: '4.png: no class' });
  fireEvent.keyDown(window, { key: 'Enter', shiftKey: true });
  await screen.findByRole('option', { name: '3.png: dog' });
  expect(sent.some(({ line }) => line.endsWith('/submit-batch/'))).toBe(false);
});

test('nested classes are found by a search, given with Enter, and undone', async () => {
  const nested = [
    { ...labels[0], id: 1, name: 'animal', hotkey: '', parent: null },
    { ...labels[0], id: 2, name: 'dog', hotkey: '1', parent: 1 },
    { ...labels[0], id: 3, name: 'collie', hotkey: '', parent: 2 },
  ];
  serve('GET', 'labelx/tasks/{task_id}/', { ...task(), labels: nested });
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(2), slot(3)] });
  const { container } = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '2.png: no class' });
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Classes of dog' }));
  expect(screen.queryByRole('button', { name: /collie/ })).toBeNull();
  fireEvent.keyDown(window, { key: '/' });
  const search = screen.getByRole('textbox', { name: 'Find a class' });
  expect(document.activeElement).toBe(search);
  await userEvent.keyboard('animal col');
  screen.getByRole('button', { name: /animal › dog › collie/ });
  await userEvent.keyboard('{Enter}');
  await screen.findByRole('option', { name: '2.png: collie' });
  expect(search).toHaveProperty('value', '');
  // The keys belong to the images again.
  fireEvent.keyDown(window, { key: '1' });
  fireEvent.keyUp(window, { key: '1' });
  await screen.findByRole('option', { name: '3.png: dog' });
  fireEvent.keyDown(window, { key: 'z', ctrlKey: true });
  fireEvent.keyDown(window, { key: 'z', ctrlKey: true });
  await screen.findByRole('option', { name: '2.png: no class' });
});

test('classes of a new task are nested in the form and sent with their ids', async () => {
  serveDatasets();
  serve('POST', 'projects/{project}/labelx/tasks/', task());
  await openForm('pets@v3');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Nested');
  for (const name of ['animal', 'dog']) {
    await userEvent.click(screen.getByRole('button', { name: 'Add a class' }));
    await userEvent.keyboard(name);
  }
  await userEvent.click(screen.getByRole('button', { name: 'Nest classes' }));
  await userEvent.click(screen.getByRole('combobox', { name: 'dog belongs to' }));
  await userEvent.click(await screen.findByRole('option', { name: 'animal' }));
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  const isTask = ({ line }: { line: string }) => line.startsWith('POST') && line.endsWith('/labelx/tasks/');
  await waitFor(() => expect(sent.some(isTask)).toBe(true));
  const made = [
    { id: 1, name: 'animal', parent: null },
    { id: 2, name: 'dog', parent: 1 },
  ];
  expect(sent.find(isTask)?.body).toMatchObject({ labels: made });
});

test('keys that fast hands press before they let go of the last one count in their order', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/tasks/{task_id}/submit-batch/', { results: [{ slot: 's1', ok: true }] });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  fireEvent.keyDown(window, { key: '1', code: 'Digit1' });
  fireEvent.keyDown(window, { key: '2', code: 'Digit2' });
  // Shift has changed what the key writes; it is the same key.
  fireEvent.keyUp(window, { key: '!', code: 'Digit1' });
  await screen.findByRole('option', { name: '1.png: cat' });
  screen.getByRole('option', { name: '2.png: no class' });
  fireEvent.keyDown(window, { key: 'Enter', code: 'Enter' });
  fireEvent.keyUp(window, { key: '2', code: 'Digit2' });
  await screen.findByText('Nothing left to label');
  const body = sent.find(({ line }) => line.endsWith('/submit-batch/'))?.body;
  expect(body).toMatchObject({
    submissions: [
      { slot: 's1', label_id: 1 },
      { slot: 's2', label_id: 2 },
    ],
  });
});

test('after the last batch the page says that it is saved, and what counts open images is asked again', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/tasks/{task_id}/submit-batch/', {
    results: [
      { slot: 's1', ok: true },
      { slot: 's2', ok: true },
    ],
  });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  for (const key of ['1', '2']) {
    fireEvent.keyDown(window, { key });
    fireEvent.keyUp(window, { key });
  }
  await screen.findByRole('option', { name: '2.png: dog' });
  screen.getByText(/^All have a class ·/);
  const asked = () => sent.filter(({ line }) => line === 'GET /api/v1/labelx/tasks/t1/').length;
  const before = asked();
  fireEvent.keyDown(window, { key: 'Enter' });
  await screen.findByText('Nothing left to label');
  await screen.findByText('Saved');
  await waitFor(() => expect(asked()).toBeGreaterThan(before));
});

test('after the last batch the page says what became of answers that came too late', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('POST', 'labelx/slots/{slot_id}/heartbeat/', {});
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/tasks/{task_id}/submit-batch/', {
    results: [
      { slot: 's1', ok: false, code: 'stale_lease' },
      { slot: 's2', ok: false, code: 'lease_elsewhere' },
    ],
  });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  for (const key of ['1', '2']) {
    fireEvent.keyDown(window, { key });
    fireEvent.keyUp(window, { key });
  }
  await screen.findByRole('option', { name: '2.png: dog' });
  fireEvent.keyDown(window, { key: 'Enter' });
  await screen.findByText('Nothing left to label');
  expect(await screen.findByText(/1 image had been given to somebody else. Your answer is kept/)).toBeTruthy();
  expect(screen.getByText(/1 image was open in another window of yours/)).toBeTruthy();
});

test('an image that was sent back says why, and which class it had', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', {
    results: [{ ...slot(1), state: 'returned', label_id: 2, returned_code: 'wrong_label' }],
  });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText('Returned: wrong class (you chose dog)');
  screen.getByRole('option', { name: '1.png: no class. Sent back. Returned: wrong class (you chose dog)' });
});

test('Enter does not submit images without a class', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(1), slot(2)] });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  fireEvent.keyDown(window, { key: 'Enter' });
  expect((await screen.findByRole('alert')).textContent).toContain('2 images have no class yet');
});

const item = (n: number) => ({ ...slot(n), slot_id: `s${n}`, label_id: 1, labeler: 'bo', revision_id: `r${n}` });

test('an audit sends back what was clicked and accepts the rest', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [item(1), item(2)] });
  serve('POST', 'labelx/audits/', {
    results: [
      { slot: 's1', ok: true },
      { slot: 's2', ok: true },
    ],
  });
  const { container } = await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await userEvent.click(await screen.findByRole('button', { name: /^2\.png: cat/ }));
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Accept 1, send back 1' }));
  await waitFor(() => expect(sent.find(({ line }) => line.endsWith('/audits/'))).toBeTruthy());
  const body = sent.find(({ line }) => line.endsWith('/audits/'))?.body as { decisions: object[] } | undefined;
  expect(body?.decisions).toMatchObject([
    { slot: 's1', verdict: 'accept' },
    { slot: 's2', verdict: 'return', error_code: 'wrong_label' },
  ]);
});

test('what an auditor has marked is marked still after a reload, until it is sent', async () => {
  const [one, two] = [item(1), item(2)];
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [one, two] });
  serve('POST', 'labelx/audits/', { results: [{ slot: 's1', ok: true }] });
  const show = () => renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  const first = await show();
  await userEvent.type(await screen.findByRole('textbox', { name: 'Comment' }), 'a dog');
  await userEvent.click(screen.getByRole('button', { name: /^2\.png: cat/ }));
  first.unmount();

  // The first image has another answer by then; what was said of the old one is not said of it.
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [{ ...one, revision_id: 'new' }, two] });
  const second = await show();
  await screen.findByText('a dog');
  expect(screen.getByRole('button', { name: /^1\.png/ }).getAttribute('aria-pressed')).toBe('false');
  await userEvent.click(screen.getByRole('button', { name: 'Accept 1, send back 1' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/audits/'))).toBe(true));
  await screen.findByRole('button', { name: 'Accept 2, send back 0' });
  second.unmount();
});

test('a task that is over has nothing to audit, and its page does not send there', async () => {
  serve('GET', 'labelx/tasks/{task_id}/', task({ state: 'published', offers: [] }));
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => refusal('task_not_active', {}));
  const page = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByRole('heading', { name: 'Pets' });
  expect(screen.queryByRole('link', { name: 'Audit 1 image' })).toBeNull();
  page.unmount();
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByText('This task is published');
});

test('a batch under audit stays reserved while it is looked at, and what is lost is told', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [item(1), item(2)] });
  serve('POST', 'labelx/slots/s1/heartbeat/', {});
  serve('POST', 'labelx/slots/s2/heartbeat/', () => refusal('stale_lease', {}));
  const timers = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => timers.mockRestore());
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByRole('button', { name: /^1\.png/ });
  const beat = timers.mock.calls.find(([, delayMs]) => delayMs === 30_000)?.[0] as () => void;
  beat();
  await screen.findByText(/^The reservation of 1 image has run out/);
  const beats = sent.filter(({ line }) => line.endsWith('/heartbeat/'));
  expect(beats.map(({ line, body }) => [line.split('/').at(-3), body])).toEqual([
    ['s1', { lease_no: 1, page: expect.any(String) }],
    ['s2', { lease_no: 1, page: expect.any(String) }],
  ]);
});

test('an audit that another window of one holds is taken over here', async () => {
  const asked: unknown[] = [];
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { ...nobody, elsewhere: 2 });
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', async (request: Request) => {
    const { everything } = (await request.json()) as { everything: boolean };
    asked.push(everything);
    return { lease: everything ? [item(1), item(2)] : [] };
  });
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByText(/^2 images are open in another window of yours/);
  expect(screen.queryByText(/^New work appears here/)).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Go on here' }));
  await screen.findByRole('button', { name: /^1\.png/ });
  expect(asked.at(-1)).toBe(true);
});

test('Enter that is pressed twice or held submits one batch, and not the next one unseen', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => ({ lease: [item(++leases)] }));
  serve('POST', 'labelx/audits/', { results: [{ slot: 's1', ok: true }] });
  onTestFinished(listenForShortcuts());
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByRole('button', { name: /^1\.png/ });
  const submitted = () => sent.filter(({ line }) => line.endsWith('/audits/')).length;
  const press = (repeat = false) => fireEvent.keyDown(window, { key: 'Enter', repeat });
  press();
  press();
  await screen.findByRole('button', { name: /^2\.png/ });
  expect(submitted()).toBe(1);
  press(true);
  expect(submitted()).toBe(1);
  press();
  await screen.findByRole('button', { name: /^3\.png/ });
  expect(submitted()).toBe(2);
});

/** The audit, left and come back to with what was read before at hand. */
function Visits() {
  const [there, setThere] = useState(true);
  return (
    <>
      <button type="button" onClick={() => setThere(!there)}>
        {there ? 'Leave' : 'Come back'}
      </button>
      {there && <AuditPage />}
    </>
  );
}

test('who comes back to the audit gets what waits then, not the batch that is decided', async () => {
  let decided = 0;
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => ({ lease: [item(decided + 1)] }));
  serve('POST', 'labelx/audits/', () => ({ results: [{ slot: `s${++decided}`, ok: true }] }));
  await renderPage(<Visits />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByRole('button', { name: /^1\.png/ });
  await userEvent.click(screen.getByRole('button', { name: 'Accept 1, send back 0' }));
  await screen.findByRole('button', { name: /^2\.png/ });
  await userEvent.click(screen.getByRole('button', { name: 'Leave' }));
  await userEvent.click(screen.getByRole('button', { name: 'Come back' }));
  await screen.findByRole('button', { name: /^\d\.png/ });
  expect(screen.queryByRole('button', { name: /^1\.png/ })).toBeNull();
});

const version = { id: 'v', ref: 'v3', number: 3, message: '', file_count: 9 };
function serveDatasets() {
  serve('GET', 'projects/{project}/datasets/', listing({ id: 'd', name: 'pets', latest: version }));
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/', listing(version));
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/{ref}/stats/', {
    labels: {},
    splits: {},
    media_types: {},
    unlabelled: 9,
    unreadable: 0,
    unreadable_paths: [],
    unsplit: 0,
    unsplit_paths: [],
  });
  serve('GET', 'projects/{project}/labelx/task-preview/', (_: Request, url: URL) => {
    const all = url.searchParams.get('labelled') === 'any';
    return { items: all ? 12 : 7, left_out: { not_images: 2, unreadable: 1 } };
  });
}
const openForm = async (source: string) => {
  const { CreateTask } = await import('./task/CreateTask');
  return renderPage(<CreateTask source={source} onClose={() => {}} />, '/labeling', '/labeling');
};

test('a task without a name and without classes is refused at each field, and the first has the focus', async () => {
  serveDatasets();
  await openForm('yes');
  await userEvent.click(await screen.findByRole('button', { name: 'Create' }));
  await screen.findByText('Give the task a name.');
  screen.getByText('Choose a dataset.');
  screen.getByText(/needs at least two classes/);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name' })));
  expect(sent.some(({ line }) => line.startsWith('POST'))).toBe(false);
});

test('the form says how many images the task will have, and what is left out', async () => {
  serveDatasets();
  await openForm('pets@v3');
  await screen.findByText('The task will have 7 images.');
  screen.getByText('2 files are left out: they are no images that can be shown.');
  screen.getByText('1 image is left out: it cannot be read.');
  await userEvent.click(screen.getByRole('switch', { name: 'Only unlabelled images' }));
  await screen.findByText('The task will have 12 images.');
});

test('a link that asks for objects opens the form for drawing, on the pictures that have none', async () => {
  serveDatasets();
  serve('GET', 'projects/{project}/labelx/task-preview/', (_: Request, url: URL) => {
    const where = url.searchParams.get('where') ?? '';
    return { items: where.includes('objects.count IS NULL') ? 5 : 0, left_out: { not_images: 0, unreadable: 0 } };
  });
  const { CreateTask } = await import('./task/CreateTask');
  await renderPage(<CreateTask source="pets@v3" objects onClose={() => {}} />, '/labeling', '/labeling');
  await screen.findByText('The task will have 5 images.');
  expect(screen.getByRole('radio', { name: 'Draw objects' })).toHaveProperty('checked', true);
  expect(screen.getByRole('switch', { name: 'Only unlabelled images' })).toHaveProperty('checked', false);
});

test('a grid task starts from a template, and drawing has the smaller batch', async () => {
  serveDatasets();
  const template = { description: '', schema: {}, batch_size: 25 };
  const names = (...all: string[]) => all.map((name, id) => ({ id, name, color: '#009E73', hotkey: String(id + 1) }));
  serve(
    'GET',
    'labelx/templates/',
    listing(
      {
        ...template,
        key: 'censor',
        name: 'Censor',
        modality: 'image-classification',
        labels: names('clean', 'unsure'),
      },
      { ...template, key: 'person', name: 'Person', modality: 'image-objects', labels: names('person') },
    ),
  );
  await openForm('pets@v3');
  await userEvent.click(await screen.findByRole('combobox', { name: 'Start from' }));
  expect(screen.queryByRole('option', { name: 'Person' })).toBeNull();
  await userEvent.click(await screen.findByRole('option', { name: 'Censor' }));
  expect(await screen.findByRole('textbox', { name: 'Name of class 2' })).toHaveProperty('value', 'unsure');
  const size = () => screen.getByRole('textbox', { name: 'Images per batch' });
  expect(size()).toHaveProperty('value', '25');
  await userEvent.click(screen.getByRole('radio', { name: 'Draw objects' }));
  expect(size()).toHaveProperty('value', '8');
});

test('a manager frees a held image on the page of the task', async () => {
  const until = '2026-01-01T00:00:00Z';
  const holder = { slot: 's7', role: 'label', state: 'leased', name: 'Bo', username: 'bo', until, seen_at: null };
  serve('GET', 'labelx/tasks/{task_id}/items/', (_: Request, url: URL) => {
    expect(url.searchParams.get('state')).toBe('labeling');
    return listing({ ...slot(7), state: 'labeling', skips: [], holders: [holder] });
  });
  serve('POST', 'labelx/slots/s7/free/', {});
  const { container } = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await userEvent.click(await screen.findByRole('button', { name: 'Being labelled' }));
  await screen.findByText(/^held by Bo until /);
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Free pets/7.png' }));
  await waitFor(() => expect(sent.some(({ line }) => line === 'POST /api/v1/labelx/slots/s7/free/')).toBe(true));
});

test('a task starts with the classes of the objects that its version has', async () => {
  serveDatasets();
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/{ref}/stats/', {
    labels: {},
    annotated: 2,
    object_labels: { dog: 3, cat: 1 },
  });
  serve('GET', 'labelx/templates/', listing());
  const skeleton = { points: [{ name: 'nose' }, { name: 'tail' }], edges: [[0, 1]], flips: [] };
  const dog = { id: 0, name: 'dog', color: '#0072B2', hotkey: '1', tools: ['keypoints'], skeleton, attributes: [] };
  const cat = { id: 1, name: 'cat', color: '#E69F00', hotkey: '2', tools: ['polygon'], attributes: [] };
  let fails = true;
  serve('GET', 'projects/{project}/labelx/version-classes/', (_: Request, url: URL) => {
    expect(url.searchParams.get('dataset')).toBe('pets@v3');
    if (fails) return problem(409, 'manifest_corrupt_x', 'The store does not answer.');
    return { labels: [dog, cat], schema: {}, counts: [], pictures: 2, complete: false };
  });
  const { CreateTask } = await import('./task/CreateTask');
  await renderPage(<CreateTask source="pets@v3" objects onClose={() => {}} />, '/labeling', '/labeling');
  const select = await screen.findByRole('combobox', { name: 'Start from' });
  await userEvent.click(select);
  await userEvent.click(await screen.findByRole('option', { name: 'Classes of pets@v3 (2 classes, objects: 4)' }));
  await screen.findByText('The store does not answer.');
  fails = false;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByRole('group', { name: 'dog' });
  screen.getByRole('group', { name: 'cat' });
  screen.getByText(/pets@v3 has more objects or classes than were read/);
  expect(screen.queryByText('The store does not answer.')).toBeNull();
});

test('any dataset of the project can be labelled: they are searched on the server as one types', async () => {
  serveDatasets();
  const names = Array.from({ length: 300 }, (_, number) => `birds-${number}`);
  serve('GET', 'projects/{project}/datasets/', (_: Request, url: URL) => {
    const fitting = names.filter((name) => name.includes(url.searchParams.get('q') ?? ''));
    const found = fitting.slice(0, Number(url.searchParams.get('limit')));
    return listing(...found.map((name) => ({ id: name, name, latest: version })));
  });
  await openForm('pets@v3');
  const input = await screen.findByRole('combobox', { name: 'Dataset' });
  expect(input).toHaveProperty('value', 'pets');
  await userEvent.clear(input);
  await userEvent.type(input, 'birds-297');
  await userEvent.click(await screen.findByRole('option', { name: 'birds-297' }));
  expect(input).toHaveProperty('value', 'birds-297');
  await waitFor(() => expect(screen.getByRole('combobox', { name: 'Version' })).toHaveProperty('value', 'v3'));
  await screen.findByText('The task will have 7 images.');
  await userEvent.clear(input);
  await userEvent.type(input, 'whales');
  await screen.findByText('No dataset of that name in this project');
});

test('the page of a task shows its guideline as Markdown', async () => {
  serve('GET', 'labelx/tasks/{task_id}/', task({ guideline: 'Look at **both** ears.' }));
  await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  expect((await screen.findByText('both')).tagName).toBe('STRONG');
});

test('the page of a task says what was left out', async () => {
  serve('GET', 'labelx/tasks/{task_id}/', task({ left_out: { not_images: 3, unreadable: 0 } }));
  await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText('3 files are left out: they are no images that can be shown.');
});

test('only classes are missing: the focus is on what adds them', async () => {
  serveDatasets();
  await openForm('pets@v3');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Sort them');
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await screen.findByText(/needs at least two classes/);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Add a class' })));
});

test('a new class has the focus, and every control of a class without a name has a name', async () => {
  serveDatasets();
  await openForm('pets@v3');
  const add = await screen.findByRole('button', { name: 'Add a class' });
  await userEvent.click(add);
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name of class 1' }));
  await userEvent.click(add);
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name of class 2' }));
  screen.getByRole('textbox', { name: 'Colour of class 2' });
  screen.getByRole('textbox', { name: 'Key of class 2' });
  await userEvent.click(screen.getByRole('button', { name: 'Remove class 1' }));
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Remove class 1' }));
  await userEvent.click(screen.getByRole('button', { name: 'Remove class 1' }));
  expect(document.activeElement).toBe(add);
});

test('what the server refuses is said at its field', async () => {
  serveDatasets();
  serve('POST', 'projects/{project}/labelx/tasks/', () =>
    refusal('task_name_taken', { name: ['This name is taken.'], 'labels.1.name': ['Too long.'] }),
  );
  await openForm('pets@v3');
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Sort them');
  for (const [index, name] of ['cat', 'dog'].entries()) {
    await userEvent.click(screen.getByRole('button', { name: 'Add a class' }));
    await userEvent.type(screen.getByRole('textbox', { name: `Name of class ${index + 1}` }), name);
  }
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await screen.findByText('This name is taken.');
  screen.getByText('Too long.');
  expect(screen.queryByText('task_name_taken')).toBeNull();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Name' })));
});

test.each([
  ['draft', 'This task has not been started'],
  ['paused', 'This task is paused'],
  ['published', 'This task is published'],
])('the work page of a %s task says so', async (state, words) => {
  serve('GET', 'labelx/tasks/{task_id}/', task({ state }));
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => refusal('task_not_active', {}));
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText(words);
  screen.getByRole('link', { name: 'Back to the task' });
  expect(screen.queryByRole('link', { name: 'Look again' }) === null).toBe(state === 'published');
});

test('a large task tells how many of its images are there, and the question that found them', async () => {
  const filter = { prefix: '', labelled: null, where: "label = 'cat'" };
  serve('GET', 'labelx/tasks/{task_id}/', task({ filter, filling: { done: 2000, total: 90_000 } }));
  await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText(/2,000 of 90,000 are there/);
  screen.getByText("label = 'cat'");
});

const holder = { name: 'Maria Rossi', returned: false, items: 10, until: '2026-01-01T14:32:00Z', working: false };
const nothingToLabel = () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [] });
};

test('when nothing is left the page names who holds images until when, and goes on when they come free', async () => {
  nothingToLabel();
  serve('GET', 'labelx/tasks/{task_id}/waiting/', {
    ...nobody,
    holders: [holder, { ...holder, name: 'Ben', items: 1, working: true }],
  });
  const { container } = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText(/^10 images are held by Maria Rossi until \d\d:\d\d; they come free then\.$/);
  screen.getByText(/^Ben is labeling 1 image: reserved until/);
  await expectNoViolations(container);
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(1)] });
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { ...nobody, open: 1 });
  await screen.findByRole('option', { name: '1.png: no class' }, { timeout: 8000 });
}, 15_000);

test('what another window shows and what one skipped is said, each with its button', async () => {
  nothingToLabel();
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { ...nobody, elsewhere: 2, skipped: 1 });
  serve('POST', 'labelx/tasks/{task_id}/unskip/', { count: 1 });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText(/2 images are open in another window of yours/);
  await userEvent.click(screen.getByRole('button', { name: 'Label after all' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/unskip/'))).toBe(true));
  await userEvent.click(await screen.findByRole('button', { name: 'Go on here' }));
  const takes = () => sent.filter(({ line }) => line.endsWith('/take-up/')).map(({ body }) => body);
  await waitFor(() => expect(takes()).toContainEqual(expect.objectContaining({ everything: true })));
});

test('a skipped image leaves the batch with a toast that takes it back', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('POST', 'labelx/slots/{slot_id}/skip/', {});
  serve('POST', 'labelx/slots/{slot_id}/unskip/', { ...slot(1), lease_no: 2 });
  await renderPage(
    <>
      <WorkPage />
      <Notifications />
    </>,
    '/labeling/t1/work',
    '/labeling/$taskId/work',
  );
  await screen.findByRole('option', { name: '1.png: no class' });
  await userEvent.click(screen.getByRole('button', { name: 'Skip with a reason' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Bad image' }));
  await waitFor(() => expect(screen.queryByRole('option', { name: /^1\.png/ })).toBeNull());
  expect(sent.find(({ line }) => line.endsWith('/skip/'))?.body).toEqual({ lease_no: 1, reason: 'bad_image' });
  await screen.findByText('1.png was skipped; somebody else gets it.');
  const undo = screen.getAllByRole('button', { name: 'Undo' }).find((one) => one.textContent === 'Undo');
  await userEvent.click(undo as HTMLElement);
  await screen.findByRole('option', { name: '1.png: no class' });
});

test('whoever labelled all that waits for audit is told so at the button, and counts leave their own out', async () => {
  const own = { leased: 0, returned: 0, to_audit: 0, own_audits: 6 };
  serve('GET', 'labelx/tasks/{task_id}/', task({ offers: ['label'], my: own }));
  const page = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText('You labelled all of these 6 images; somebody else must audit them.');
  expect(screen.queryByRole('link', { name: /^Audit/ })).toBeNull();
  page.unmount();
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => refusal('auditor_is_labeler', {}));
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByText('Nothing to audit');
  screen.getByText(/somebody else must audit them/);
});

test('a published task says how many were left out and where they were, and finishes them', async () => {
  const rest = {
    state: 'published',
    offers: ['continue'],
    output_version: { id: 'v', dataset: 'pets', ref: 'v3' },
    progress: { total: 4, ready: 0, labeling: 0, audit: 0, rework: 0, accepted: 3, left_out: 1, skipped: 0 },
    left_out_from: { ready: 0, labeling: 0, audit: 1, rework: 0, replaced: 0 },
  };
  serve('GET', 'labelx/tasks/{task_id}/', task(rest));
  serve('POST', 'labelx/tasks/{task_id}/continue/', task({ id: 't2', name: 'Pets (2)' }));
  const { container } = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText('1 image was left out (In audit: 1).');
  screen.getByRole('img', { name: 'Accepted: 3, Left out: 1' });
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Finish the image that was left out' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/t1/continue/'))).toBe(true));
});

test('a published task names the first pictures that were replaced, and counts the others', async () => {
  const left_out_from = { ready: 0, labeling: 0, audit: 0, rework: 0, replaced: 3 };
  const progress = { ...task().progress, left_out: 3 };
  const output_version = { id: 'v', dataset: 'pets', ref: 'v3' };
  serve('GET', 'labelx/tasks/{task_id}/', task({ state: 'published', output_version, progress, left_out_from }));
  serve('GET', 'labelx/tasks/{task_id}/items/', (_request: Request, url: URL) =>
    url.searchParams.get('replaced') === 'true'
      ? listing({ id: 'i1', path: 'a.png' }, { id: 'i2', path: 'b.png' })
      : listing(),
  );
  const { container } = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText('b.png');
  screen.getByText('a.png');
  screen.getByText('and 1 more');
  await expectNoViolations(container);
});

test('a researcher sees what was skipped, by whom and why, and leaves it out', async () => {
  const progress = { ...task().progress, skipped: 1 };
  serve('GET', 'labelx/tasks/{task_id}/', task({ progress, offers: ['label', 'settle_skipped'] }));
  const skipped = { ...slot(1), id: 'i1', state: 'ready', skips: [{ name: 'Ben', reason: 'bad_image' }] };
  serve('GET', 'labelx/tasks/{task_id}/items/', listing(skipped));
  serve('POST', 'labelx/tasks/{task_id}/skipped/', { count: 1 });
  await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText('1 skipped image waits for somebody else.');
  await userEvent.click(screen.getByRole('button', { name: 'Skipped images' }));
  await screen.findByText('skipped by Ben: Bad image');
  await userEvent.click(screen.getByRole('button', { name: 'Leave out' }));
  await waitFor(() =>
    expect(sent.find(({ line }) => line.endsWith('/skipped/'))?.body).toEqual({ how: 'leave_out', items: ['i1'] }),
  );
});

test('leaving the page sends a form with the token and says which page it was; the next one in the tab names it', async () => {
  // biome-ignore lint/suspicious/noDocumentCookie: the browser's way to have a token
  document.cookie = 'csrftoken=secret';
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(1)] });
  const first = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  const taken = () =>
    sent.filter(({ line }) => line.endsWith('/take-up/')).at(-1)?.body as { page: string; from_page: string };
  const { page } = taken();
  first.unmount();
  expect(beacons).toEqual([['/api/v1/labelx/tasks/t1/leave/', { page, csrfmiddlewaretoken: 'secret' }]]);
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await waitFor(() => expect(taken()).toMatchObject({ from_page: page }));
  expect(taken().page).not.toBe(page);
});
