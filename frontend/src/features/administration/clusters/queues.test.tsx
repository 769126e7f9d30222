import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ClusterPage } from '../index';
import { NO_QUEUES, signedInAs, whole } from './clusters.fixtures';

const PROBLEM = { 'content-type': 'application/problem+json' };
const PATH = 'clusters/{cluster}/queues/';
const queue = (extra: object = {}) => ({ cluster_queue: '', local_queue: '', uncounted: [], ...extra });
const FULL = {
  every_project: queue({ cluster_queue: 'everyone', local_queue: 'runs' }),
  projects: [
    queue({ project: 'audio' }),
    queue({ project: 'vision', cluster_queue: 'team-a', uncounted: ['rdma/hca'] }),
  ],
  kueue: {
    version: 'v1beta2',
    gates: true,
    cluster_queues: [
      { name: 'everyone', state: 'missing', reason: '', covered: null },
      { name: 'team-a', state: 'inactive', reason: 'is stopped', covered: ['cpu', 'memory'] },
    ],
  },
};

async function show(shown: unknown, isAdmin = true) {
  signedInAs(isAdmin);
  serve('GET', 'projects/', listing(...['audio', 'vision'].map((slug) => ({ slug, name: slug, role: 'admin' }))));
  serve('GET', 'clusters/{cluster}/', whole());
  serve('GET', 'clusters/{cluster}/runs/', listing());
  serve('GET', PATH, shown);
  const page = await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  return { page, section: within(await screen.findByRole('region', { name: 'Queues' })) };
}

const put = () => sent.filter(({ line }) => line === 'PUT /api/v1/clusters/far/queues/').map(({ body }) => body);

test('each project shows its queue with its state; who may not edit gets no button', async () => {
  const { page, section } = await show(FULL, false);
  const row = async (name: string) => within((await section.findByText(name)).closest('tr') as HTMLElement);
  const vision = await row('vision');
  expect(vision.getAllByText('team-a')).toHaveLength(2);
  vision.getByText('admits nothing');
  vision.getByText('is stopped');
  vision.getByText('Quota of: cpu, memory');
  (await row('audio')).getByText('no queue');
  const others = await row('Every other project');
  others.getByText('runs');
  others.getByText('not in the cluster');
  section.getByText(/keeps its place in the queue/);
  expect(section.queryByRole('button')).toBeNull();
  await expectNoViolations(page.container);
});

test('a cluster without queues or without Kueue says so, and a list that cannot be read too', async () => {
  const first = await show(NO_QUEUES);
  await first.section.findByText(/Runs use no queue of Kueue/);
  first.page.unmount();
  const kueue = { version: '', gates: null, cluster_queues: [] };
  const second = await show({ ...FULL, kueue });
  await second.section.findByText(/serves no version of Kueue/);
  expect(second.section.getAllByText('not checked yet')).toHaveLength(2);
  second.page.unmount();
  const third = await show(() => problem(404, 'cluster_not_found', 'There is no such cluster.'));
  await third.section.findByText('There is no such cluster.');
});

async function edit(shown: unknown) {
  const { section } = await show(shown);
  await userEvent.click(await section.findByRole('button', { name: 'Edit queues' }));
  const dialog = await screen.findByRole('dialog', { name: 'Edit queues' });
  const form = within(dialog);
  const field = (group: string, label: string) =>
    within(form.getByRole('group', { name: group })).getByLabelText(label);
  const fill = (input: HTMLElement, value: string) => fireEvent.change(input, { target: { value } });
  const save = () => userEvent.click(form.getByRole('button', { name: 'Save' }));
  return { dialog, form, field, fill, save };
}

test('a queue for all needs a name, and a refusal of the server stands at its field', async () => {
  const { dialog, form, field, fill, save } = await edit(FULL);
  fill(field('Every project', 'ClusterQueue'), ' ');
  await save();
  await form.findByText('Name the ClusterQueue.');
  expect(put()).toEqual([]);
  fill(field('Every project', 'ClusterQueue'), 'everyone');
  fill(field('vision', 'Resources that are not counted'), 'rdma/hca\n\n a b ');
  const errors = { 'projects.1.uncounted.1': ['No resource.'] };
  const refused = { status: 400, code: 'invalid', title: '', errors };
  serve('PUT', PATH, () => new Response(JSON.stringify(refused), { status: 400, headers: PROBLEM }));
  await save();
  await form.findByText('No resource.');
  await expectNoViolations(dialog);
  serve('PUT', PATH, FULL);
  fill(field('vision', 'Resources that are not counted'), 'rdma/hca');
  await save();
  const { every_project, projects } = FULL;
  await waitFor(() => expect(put().at(-1)).toEqual({ every_project, projects }));
});

test('a project gets a queue of its own', async () => {
  const { form, save } = await edit(NO_QUEUES);
  serve('PUT', PATH, FULL);
  await userEvent.click(form.getByRole('button', { name: 'Add a project' }));
  await save();
  await form.findByText('Choose a project.');
  await userEvent.click(form.getByRole('combobox', { name: 'Project' }));
  await userEvent.click(await screen.findByRole('option', { name: 'audio' }));
  await userEvent.type(form.getByLabelText('ClusterQueue'), 'team-a');
  await save();
  const projects = [queue({ project: 'audio', cluster_queue: 'team-a' })];
  await waitFor(() => expect(put()).toEqual([{ every_project: null, projects }]));
});
