import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { TaskPage, TasksPage } from './index';
import { refusal, serveTask, slot, task } from './testTasks';

beforeEach(serveTask);

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

test('a large task tells how many of its images are there, and the question that found them', async () => {
  const filter = { prefix: '', labelled: null, where: "label = 'cat'" };
  serve('GET', 'labelx/tasks/{task_id}/', task({ filter, filling: { done: 2000, total: 90_000 } }));
  await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText(/2,000 of 90,000 are there/);
  screen.getByText("label = 'cat'");
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
