import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ClusterPage } from '../index';
import { quota, signedInAs, whole } from './clusters.fixtures';

const PROBLEM = { 'content-type': 'application/problem+json' };
const PATH = 'clusters/{cluster}/quotas/';
const GPU = 'nvidia.com/gpu';
const FULL = {
  every_project: quota({ cpus: 64, memory_bytes: 2 ** 38, pods: 10 }),
  projects: [quota({ project: 'vision', accelerators: { [GPU]: 4 } })],
  used: [
    { project: 'audio', cpus: 12, memory_bytes: 2 ** 34, pods: 3, accelerators: {} },
    { project: 'vision', cpus: 1, memory_bytes: 2 ** 30, pods: 1, accelerators: { [GPU]: 2 } },
  ],
};

async function show(shown: unknown, isAdmin = true) {
  signedInAs(isAdmin);
  serve('GET', 'projects/', listing(...['audio', 'vision'].map((slug) => ({ slug, name: slug, role: 'admin' }))));
  serve('GET', 'clusters/{cluster}/', whole());
  serve('GET', 'clusters/{cluster}/runs/', listing());
  serve('GET', PATH, shown);
  const page = await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  return { page, section: within(await screen.findByRole('region', { name: 'Quotas' })) };
}

const put = () => sent.filter(({ line }) => line === 'PUT /api/v1/clusters/far/quotas/').map(({ body }) => body);

test('quotas are shown by project; who may not edit gets no button', async () => {
  const { page, section } = await show(FULL, false);
  const row = async (name: string) => within((await section.findByText(name)).closest('tr') as HTMLElement);
  (await row('vision')).getByText(`4 × ${GPU}`);
  (await row('vision')).getByText(/1 CPUs · .* · Pods: 1 · 2 × nvidia.com\/gpu/);
  // It has the quota of all, and its use stands beside that.
  const audio = await row('audio');
  audio.getByText(/12 CPUs · .* · Pods: 3/);
  audio.getByText(/64 CPUs/);
  (await row('Every other project')).getByText(/64 CPUs · .* · Pods: 10/);
  expect(section.queryByRole('button')).toBeNull();
  await expectNoViolations(page.container);
});

test('a project that uses nothing of its quota says so', async () => {
  const { section } = await show({ ...FULL, used: [] });
  within((await section.findByText('vision')).closest('tr') as HTMLElement).getByText('nothing');
});

test('a cluster without quotas says so, and a list that cannot be read can be asked for again', async () => {
  const { page, section } = await show({ every_project: null, projects: [], used: [] });
  await section.findByText(/may hold all that the cluster has/);
  page.unmount();
  const again = await show(() => problem(404, 'cluster_not_found', 'There is no such cluster.'));
  await again.section.findByText('There is no such cluster.');
});

async function edit() {
  const { section } = await show(FULL);
  await userEvent.click(await section.findByRole('button', { name: 'Edit quotas' }));
  const dialog = await screen.findByRole('dialog', { name: 'Edit quotas' });
  const form = within(dialog);
  const field = (group: string, label: string) =>
    within(form.getByRole('group', { name: group })).getByLabelText(label);
  const fill = (input: HTMLElement, value: string) => fireEvent.change(input, { target: { value } });
  const save = () => userEvent.click(form.getByRole('button', { name: 'Save' }));
  return { dialog, form, field, fill, save };
}

test('wrong limits stand at their fields, and nothing is sent', async () => {
  const { dialog, form, field, fill, save } = await edit();
  fill(field('vision', 'Accelerators'), `${GPU}=4\nfour`);
  fill(field('Every project', 'CPUs'), '0');
  await save();
  await form.findByText('Line 2 is no resource=count.');
  form.getByText(/Use a whole number above 0/);
  expect(put()).toEqual([]);
  await expectNoViolations(dialog);
});

test('all quotas are sent together, and a refusal of the server stands at its field', async () => {
  const { form, field, fill, save } = await edit();
  const errors = { 'projects.0.accelerators.gpu': ['No resource.'] };
  const refused = { status: 400, code: 'invalid', title: '', errors };
  serve('PUT', PATH, () => new Response(JSON.stringify(refused), { status: 400, headers: PROBLEM }));
  fill(field('vision', 'Accelerators'), 'gpu=8');
  await save();
  await form.findByText('gpu: No resource.');
  serve('PUT', PATH, FULL);
  fill(field('vision', 'Accelerators'), `${GPU}=8`);
  fill(field('Every project', 'CPUs'), '');
  await save();
  await waitFor(() =>
    expect(put().at(-1)).toEqual({
      every_project: quota({ memory_bytes: 2 ** 38, pods: 10 }),
      projects: [quota({ project: 'vision', accelerators: { [GPU]: 8 } })],
    }),
  );
});

test('a project is added, and the quota for all is taken away', async () => {
  const { section } = await show({ ...FULL, projects: [] });
  serve('PUT', PATH, FULL);
  await userEvent.click(await section.findByRole('button', { name: 'Edit quotas' }));
  const form = within(await screen.findByRole('dialog', { name: 'Edit quotas' }));
  await userEvent.click(form.getByRole('switch'));
  await userEvent.click(form.getByRole('button', { name: 'Add a project' }));
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText('Choose a project.');
  await userEvent.click(form.getByRole('combobox', { name: 'Project' }));
  await userEvent.click(await screen.findByRole('option', { name: 'audio' }));
  await userEvent.type(form.getByLabelText('Pods'), '2');
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() =>
    expect(put()).toEqual([{ every_project: null, projects: [quota({ project: 'audio', pods: 2 })] }]),
  );
});
