import { Notifications } from '@mantine/notifications';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AuditPage, TaskPage, WorkPage } from '../index';
// Loaded lazily by the pages: the first test does not wait for it.
import '../audit/CompareDocuments';
import '../audit/ObjectAudit';
import './ObjectWork';

const labels = [
  {
    id: 1,
    name: 'car',
    color: '#5b6bf0',
    hotkey: '1',
    parent: null,
    tools: ['box'],
    attributes: [{ id: 4, name: 'plate', kind: 'text', required: true }],
    skeleton: null,
    ignore: false,
  },
  { id: 2, name: 'bike', color: '#e8710a', hotkey: '2', parent: null, tools: ['box'], attributes: [], skeleton: null },
];
const task = {
  id: 't1',
  name: 'Street',
  state: 'active',
  modality: 'image-objects',
  dataset: 'street',
  dataset_ref: 'v1',
  labels,
  schema: {},
  guideline: 'Draw **every** car.',
  filter: { prefix: '', labelled: null, where: '' },
  filling: null,
  batch_size: 4,
  audit_percent: 100,
  lease_ttl_s: 900,
  left_out: { not_images: 0, unreadable: 0 },
  progress: { total: 4, ready: 4, labeling: 0, audit: 0, rework: 0, accepted: 0, left_out: 0, skipped: 0 },
  left_out_from: { ready: 0, labeling: 0, audit: 0, rework: 0, replaced: 0 },
  my: { leased: 0, returned: 0, to_audit: 0, own_audits: 0 },
  offers: ['label', 'audit'],
  assignees: [],
  created_at: '2026-01-01T00:00:00Z',
};
const box = (id: string, label: number, extra: object = {}) => ({
  id: id.repeat(16),
  label,
  kind: 'box',
  box: [10, 10, 20, 20],
  ...extra,
});
const picture = (...objects: object[]) => ({ version: 2, width: 640, height: 480, objects });
const slot = (n: number, extra: object = {}) => ({
  id: `s${n}`,
  item_id: `i${n}`,
  state: 'leased',
  lease_no: 1,
  expires_at: '2026-01-01T00:00:00Z',
  path: `street/${n}.png`,
  width: 640,
  height: 480,
  media_url: `/media/${n}`,
  tiled: false,
  thumb_url: `/media/${n}`,
  document: null,
  draft: null,
  draft_seq: null,
  returned_code: null,
  returned_comment: null,
  issues: [],
  ...extra,
});

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  vi.spyOn(navigator, 'sendBeacon').mockReturnValue(true);
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { open: 0, elsewhere: 0, skipped: 0, holders: [] });
  serve('POST', 'labelx/tasks/{task_id}/show/', { results: [] });
  serve('GET', 'labelx/tasks/{task_id}/', task);
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/slots/{slot_id}/submit/', {});
});

function serveLease(...slots: object[]) {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? slots : [] }));
}
const work = () => renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
const tap = (key: string, extra: object = {}) => fireEvent.keyDown(window, { key, ...extra });
const submitted = () => sent.filter(({ line }) => line.endsWith('/submit/')).map(({ body }) => body);

test('a picture shows its tools, labels, objects and guideline, and no violation', async () => {
  serveLease(slot(1, { document: picture(box('a', 2), box('b', 1, { ignore: true })) }));
  const { container } = await work();
  await screen.findByRole('toolbar', { name: 'Tools' });
  screen.getByRole('button', { name: 'Box' });
  expect(screen.queryByRole('button', { name: 'Polygon' })).toBeNull();
  screen.getByText('2 objects');
  await screen.findByText('every');
  await expectNoViolations(container);
});

test('a pre-label of another size is left out with a notice, and a draft of it gets the true sides', async () => {
  const draft = { ...picture(box('a', 2)), width: 99, height: 99 };
  serveLease(slot(1, { pre_label_left_out: true }), slot(2, { draft }));
  await work();
  await screen.findByText(/The pre-label is about a picture of another size/);
  tap('Enter');
  await screen.findByText('street/2.png');
  expect(screen.queryByText(/The pre-label is about/)).toBeNull();
  tap('Enter');
  await waitFor(() => expect(submitted()).toHaveLength(2));
  expect(submitted()).toMatchObject(Array(2).fill({ document: { width: 640, height: 480 } }));
});

test('Enter does not submit an object without its required attribute, and says where it is missing', async () => {
  serveLease(slot(1, { document: picture(box('a', 1)) }), slot(2));
  await work();
  await screen.findByText('1 object');
  tap('Enter');
  await screen.findByText(/1 value is missing/);
  const plate = await screen.findByRole('textbox', { name: 'plate' });
  expect(plate.getAttribute('aria-invalid')).toBe('true');
  await userEvent.type(plate, 'AB-1');
  fireEvent.blur(plate);
  tap('Enter');
  await screen.findByText('street/2.png');
  expect(submitted()).toEqual([]);
});

test('Enter shows the next picture at once, Shift+Enter the one before it', async () => {
  serveLease(slot(1), slot(2));
  await work();
  await screen.findByText('street/1.png');
  tap('Enter');
  await screen.findByText('street/2.png');
  tap('Enter', { shiftKey: true });
  await screen.findByText('street/1.png');
  expect(submitted()).toEqual([]);
});

test('the next picture begins with its own objects and nothing to undo', async () => {
  serveLease(slot(1, { document: picture(box('a', 2)) }), slot(2, { document: picture(box('b', 2), box('c', 2)) }));
  await work();
  await screen.findByText('1 object');
  tap('a', { ctrlKey: true });
  tap('Delete');
  await screen.findByText('0 objects');
  expect(screen.getByRole('button', { name: 'Undo' }).hasAttribute('disabled')).toBe(false);
  tap('Enter');
  await screen.findByText('2 objects');
  expect(screen.getByRole('button', { name: 'Undo' }).hasAttribute('disabled')).toBe(true);
  tap('z', { ctrlKey: true });
  screen.getByText('2 objects');
  tap('Enter', { shiftKey: true });
  await screen.findByText('0 objects');
  tap('z', { ctrlKey: true });
  await screen.findByText('1 object');
});

test('a selected object gets another label by its key, and undo takes it back', async () => {
  serveLease(slot(1, { document: picture(box('a', 1)) }));
  await work();
  await userEvent.click(await screen.findByRole('button', { name: 'car 1' }));
  tap('2');
  await screen.findByRole('button', { name: 'bike 1' });
  tap('z', { ctrlKey: true });
  await screen.findByRole('button', { name: 'car 1' });
});

test('returned work shows the remarks of the auditor, which are answered and resolved', async () => {
  const issue = {
    id: 'is1',
    item_id: 'i1',
    object: 'a'.repeat(16),
    at: null,
    text: 'Too wide.',
    state: 'open',
    author: { username: 'ben', full_name: 'Ben Ode' },
    comments: [],
  };
  const returned = { state: 'returned', returned_code: 'guideline', returned_comment: 'See below.', issues: [issue] };
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing(slot(1, { document: picture(box('a', 2)), ...returned })));
  serve('POST', 'labelx/issues/{issue_id}/resolve/', { ...issue, state: 'resolved' });
  await work();
  await screen.findByText('Sent back: Against the guideline – See below.');
  screen.getByText('by Ben Ode');
  await userEvent.click(screen.getByRole('button', { name: 'Mark as resolved' }));
  await screen.findByText('Resolved');
});

test('a key is changed, and one that is taken names its holder', async () => {
  serveLease(slot(1), slot(2));
  await work();
  await userEvent.click(await screen.findByRole('button', { name: 'Keys' }));
  const change = await screen.findByRole('button', { name: /Change the key of Skip/ });
  await userEvent.click(change);
  fireEvent.keyDown(window, { key: 'b' });
  await screen.findByText(/“Box”/);
  fireEvent.keyDown(window, { key: 'q' });
  await screen.findByRole('button', { name: 'Change the key of Skip, now Q' });
});

const audited = (n: number, document: object) => ({
  ...slot(n),
  slot_id: `s${n}`,
  document,
  labeler: 'bo',
  revision_id: `r${n}`,
  before: null,
});
const audit = () =>
  renderPage(
    <>
      <Notifications />
      <AuditPage />
    </>,
    '/labeling/t1/audit',
    '/labeling/$taskId/audit',
  );
const decided = () =>
  sent
    .filter(({ line }) => line.endsWith('/audits/'))
    .flatMap(({ body }) => (body as { decisions: object[] }).decisions);

test('an auditor accepts one picture by A and sends the next back with a remark on an object', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', {
    lease: [audited(1, picture()), audited(2, picture(box('a', 2)))],
  });
  serve('POST', 'labelx/audits/', { results: [{ slot: 's', ok: true }] });
  await audit();
  await screen.findByText(/street\/1\.png/);
  await userEvent.click(screen.getByRole('button', { name: 'Accept' }));
  await screen.findByText(/street\/2\.png/);
  await userEvent.click(screen.getByRole('button', { name: 'bike 1' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Pin a remark' }), 'Too wide.');
  await userEvent.click(screen.getByRole('button', { name: 'Add' }));
  await userEvent.click(screen.getByRole('button', { name: 'Send back' }));
  await waitFor(() => expect(decided()).toHaveLength(2));
  expect(decided()).toMatchObject([
    { slot: 's1', verdict: 'accept' },
    { slot: 's2', verdict: 'return', issues: [{ object: 'a'.repeat(16), text: 'Too wide.' }] },
  ]);
  expect(decided()[0]).not.toHaveProperty('document');
});

test('a remark is pinned at a place without an object, and gives the reason alone', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [audited(1, picture(box('a', 2)))] });
  serve('POST', 'labelx/audits/', { results: [{ slot: 's1', ok: true }] });
  await audit();
  await userEvent.click(await screen.findByRole('button', { name: 'Send back' }));
  await screen.findByText('Say what is wrong: a comment or a remark.');
  expect(decided()).toEqual([]);
  await userEvent.click(screen.getByRole('button', { name: /Pin the remark at a place/ }));
  await screen.findByText(/Click the place on the picture/);
  fireEvent.keyDown(screen.getByRole('application'), { key: 'Enter' });
  await screen.findByText(/^At \d+, \d+$/);
  // Typed text goes along without a press on Add.
  await userEvent.type(screen.getByRole('textbox', { name: 'Pin a remark' }), 'A bike is missing here.');
  await userEvent.click(screen.getByRole('button', { name: 'Send back' }));
  await waitFor(() => expect(decided()).toHaveLength(1));
  expect(decided()).toMatchObject([
    {
      verdict: 'return',
      error_code: '',
      issues: [{ object: null, at: [expect.any(Number), expect.any(Number)], text: 'A bike is missing here.' }],
    },
  ]);
});

test('a labeler compares their work with the correction of the auditor', async () => {
  const correction = { item_id: 'i1', path: 'street/1.png', media_url: '/m', thumb_url: '/m', auditor: 'ada' };
  const at = '2026-01-01T00:00:00Z';
  serve(
    'GET',
    'labelx/tasks/{task_id}/corrections/',
    listing({ ...correction, revision: 'r1', correction: 'r2', comment: 'One was missing.', at }),
  );
  serve('GET', 'labelx/tasks/{task_id}/stats/', listing());
  serve(
    'GET',
    'labelx/items/{item_id}/revisions/',
    listing(
      { id: 'r2', document: picture(box('a', 2, { box: [1, 1, 5, 5] }), box('b', 2)) },
      { id: 'r1', document: picture(box('a', 2)) },
    ),
  );
  serve('GET', 'labelx/tasks/{task_id}/', { ...task, due_on: null, priority: 0, pre_label: true });
  await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await userEvent.click(await screen.findByRole('button', { name: 'Compare street/1.png' }));
  await screen.findByText('1 added, 1 changed, 0 removed');
  screen.getByRole('region', { name: 'As you submitted it' });
  await userEvent.click(screen.getByRole('radio', { name: 'As the auditor corrected it' }));
  expect(screen.queryByRole('region', { name: 'As you submitted it' })).toBeNull();
  screen.getByText('ada: One was missing.');
});

test('an auditor corrects a picture and accepts it so', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [audited(1, picture(box('a', 2), box('b', 2)))] });
  serve('POST', 'labelx/audits/', { results: [{ slot: 's1', ok: true }] });
  const { container } = await audit();
  await userEvent.click(await screen.findByRole('button', { name: 'Correct' }));
  await userEvent.click(screen.getByRole('button', { name: 'bike 2' }));
  tap('Delete');
  await screen.findByText('1 object');
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Accept the correction' }));
  await waitFor(() => expect(decided()).toHaveLength(1));
  expect(decided()).toMatchObject([{ verdict: 'accept', document: { objects: [{ id: 'a'.repeat(16) }] } }]);
});

test('a correction that the server refuses stays, with the reason at its object', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [audited(1, picture(box('a', 2), box('b', 2)))] });
  const errors = { 'document/objects/0/box': ['The box reaches beyond the picture.'] };
  const places = [{ pointer: 'document/objects/0/box', at: [5, 5] }];
  serve('POST', 'labelx/audits/', {
    results: [{ slot: 's1', ok: false, code: 'document_invalid', detail: 'No.', errors, places }],
  });
  await audit();
  await userEvent.click(await screen.findByRole('button', { name: 'Correct' }));
  await userEvent.click(screen.getByRole('button', { name: 'bike 2' }));
  tap('Delete');
  await screen.findByText('1 object');
  await userEvent.click(screen.getByRole('button', { name: 'Accept the correction' }));
  await userEvent.click(await screen.findByRole('button', { name: 'The box reaches beyond the picture.' }));
  expect(screen.getByRole('button', { name: 'bike 1', pressed: true })).toBeTruthy();
  expect(screen.getByText('1 object')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Accept the correction' })).toBeTruthy();
});

test('the page of a task leads to the export of its accepted labels, or says that there are none', async () => {
  const page = () => renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  serve('GET', 'labelx/tasks/{task_id}/', task);
  serve('GET', 'labelx/tasks/{task_id}/stats/', listing());
  serve('GET', 'labelx/tasks/{task_id}/corrections/', listing());
  const { unmount } = await page();
  await screen.findByText('Labels can be exported once a picture is accepted.');
  unmount();
  const output_version = { id: 'v', dataset: 'street', ref: 'v2' };
  const progress = { ...task.progress, ready: 0, accepted: 4 };
  serve('GET', 'labelx/tasks/{task_id}/', { ...task, state: 'completed', progress, output_version });
  await page();
  const link = await screen.findByRole('link', { name: 'Export labels' });
  expect(link.getAttribute('href')).toContain('/datasets/street/labels?ref=v2&act=export&task=t1');
});

const ofPlate = { id: 'r'.repeat(16), relation: 1, from: 'b'.repeat(16), to: 'a'.repeat(16) };
const related = {
  ...task,
  schema: {
    relations: [
      { id: 1, name: 'tows', from: null, to: null },
      { id: 2, name: 'hides', from: null, to: null },
    ],
  },
};

test('the relations of an object are listed, lead to their other end, and can be deleted', async () => {
  serve('GET', 'labelx/tasks/{task_id}/', related);
  serveLease(slot(1, { document: { ...picture(box('a', 2), box('b', 2)), relations: [ofPlate] } }));
  await work();
  await userEvent.click(await screen.findByRole('button', { name: 'bike 1' }));
  const relations = await screen.findByRole('group', { name: 'Relations' });
  await userEvent.click(within(relations).getByRole('button', { name: 'bike 2 → tows → bike 1' }));
  expect(screen.getByRole('button', { name: 'bike 2' }).getAttribute('aria-pressed')).toBe('true');
  await userEvent.click(screen.getByRole('button', { name: 'Delete the relation bike 2 → tows → bike 1' }));
  await waitFor(() => expect(screen.queryByRole('group', { name: 'Relations' })).toBeNull());
});

test('the kind of a relation is chosen beside its tool where there are several', async () => {
  serve('GET', 'labelx/tasks/{task_id}/', related);
  serveLease(slot(1, { document: picture(box('a', 2)) }));
  await work();
  await userEvent.click(await screen.findByRole('button', { name: 'Relation' }));
  const kind = await screen.findByRole('combobox', { name: 'Kind of relation' });
  await userEvent.click(kind);
  await userEvent.click(await screen.findByRole('option', { name: 'hides' }));
  expect((kind as HTMLInputElement).value).toBe('hides');
});

test('an auditor reads the relations of an object', async () => {
  const document = { ...picture(box('a', 2), box('b', 2)), relations: [ofPlate] };
  serve('GET', 'labelx/tasks/{task_id}/', related);
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [audited(7, document)] });
  await audit();
  await userEvent.click(await screen.findByRole('button', { name: 'bike 1' }));
  await screen.findByRole('button', { name: 'bike 2 → tows → bike 1' });
  expect(screen.queryByRole('button', { name: /^Delete the relation/ })).toBeNull();
});

test('a picture that is decided is no longer kept reserved', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [audited(8, picture()), audited(9, picture())] });
  serve('POST', 'labelx/audits/', { results: [{ slot: 's', ok: true }] });
  serve('POST', 'labelx/slots/{slot_id}/heartbeat/', {});
  const timers = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => timers.mockRestore());
  await audit();
  await userEvent.click(await screen.findByRole('button', { name: 'Accept' }));
  await screen.findByText('1 picture to audit');
  const beat = timers.mock.calls.find(([, delayMs]) => delayMs === 30_000)?.[0] as () => void;
  const beats = () => sent.filter(({ line }) => line.endsWith('/heartbeat/')).map(({ line }) => line.split('/').at(-3));
  beat();
  await waitFor(() => expect(beats()).toEqual(['s9']));
});
