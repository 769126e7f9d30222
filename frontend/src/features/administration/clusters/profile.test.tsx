import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ClusterPage } from '../index';
import { profile, signedInAs, whole } from './clusters.fixtures';

const PROBLEM = { 'content-type': 'application/problem+json' };
const PATH = 'clusters/{cluster}/profile/';
const MEMLOCK = {
  state: 'off',
  detail: 'RDMA is off: the runtime of n1 gives pods a memlock limit of 64 KiB, and the profile needs unlimited.',
  detail_code: 'clusters.rdma_memlock',
  detail_params: { node: 'n1', given: '64 KiB', needed: { code: 'clusters.unlimited', params: {} } },
  tested_at: '2026-01-01T00:00:00Z',
  node: 'n1',
};
const FULL = profile({
  priority_class: 'research',
  tolerations: [{ key: 'gpu', operator: 'Exists', value: '', effect: 'NoSchedule' }],
  rdma_resource: 'rdma/hca',
  rdma_count: 2,
  nccl: { NCCL_DEBUG: 'WARN' },
  memlock_bytes: 8 * 2 ** 30,
  rdma: MEMLOCK,
});

afterEach(() => setLanguage('en'));

async function show(shown: object, isAdmin = true) {
  signedInAs(isAdmin);
  serve('GET', 'clusters/{cluster}/', whole());
  serve('GET', 'clusters/{cluster}/runs/', listing());
  serve('GET', PATH, shown);
  const page = await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  return { page, section: within(await screen.findByRole('region', { name: 'Profile of pods' })) };
}

async function edit(shown: object) {
  const { section } = await show(shown);
  await userEvent.click(await section.findByRole('button', { name: 'Edit profile' }));
  const dialog = await screen.findByRole('dialog', { name: 'Edit profile' });
  return { dialog, form: within(dialog) };
}

const put = () => sent.filter(({ line }) => line === 'PUT /api/v1/clusters/far/profile/').map(({ body }) => body);

test('the profile says its settings, and why RDMA is off; who may not edit gets no button', async () => {
  const { page, section } = await show(FULL, false);
  await section.findByText('research');
  section.getByText('gpu: NoSchedule');
  section.getByText('NCCL_DEBUG=WARN');
  section.getByText('2 × rdma/hca');
  section.getByText('Off');
  section.getByText(/Tried on n1/);
  section.getByText(/memlock limit of 64 KiB/);
  expect(section.queryByRole('button')).toBeNull();
  await expectNoViolations(page.container);
});

test('the reason why RDMA is off is said in Chinese too', async () => {
  await show(FULL);
  await setLanguage('zh');
  await screen.findByText(/n1 的运行时给 Pod 的 memlock 限制为 64 KiB，而配置需要 无限制/);
});

test('a cluster without a profile says so, and one that cannot be read can be asked for again', async () => {
  const { page, section } = await show(profile());
  await section.findByText(/default priority/);
  page.unmount();
  const again = await show(() => problem(404, 'cluster_not_found', 'There is no such cluster.'));
  await again.section.findByText('There is no such cluster.');
});

test('the whole profile is sent, with what was changed', async () => {
  const { dialog, form } = await edit(FULL);
  serve('PUT', PATH, FULL);
  await userEvent.click(form.getByRole('button', { name: 'Add a toleration' }));
  const added = within(form.getByRole('group', { name: 'Toleration 2' }));
  await userEvent.type(added.getByLabelText('Key'), 'team');
  await userEvent.type(added.getByLabelText('Value'), 'vision');
  await userEvent.click(form.getByRole('button', { name: 'Remove toleration 1' }));
  const limit = form.getByLabelText('Needed memlock limit, KiB');
  expect(limit).toHaveProperty('value', String(8 * 2 ** 20));
  await userEvent.clear(limit);
  await userEvent.type(form.getByLabelText('Settings'), '\nNCCL_IB_HCA=mlx5=1');
  await expectNoViolations(dialog);
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() =>
    expect(put()).toEqual([
      {
        priority_class: 'research',
        tolerations: [{ key: 'team', operator: 'Equal', value: 'vision', effect: '' }],
        rdma_resource: 'rdma/hca',
        rdma_count: 2,
        nccl: { NCCL_DEBUG: 'WARN', NCCL_IB_HCA: 'mlx5=1' },
        memlock_bytes: null,
        image_repository: '',
        image_credentials: null,
      },
    ]),
  );
});

const PUSHED = profile({ image_repository: 'registry.example/atom/envs', has_image_credentials: true });

test('the repository of images is shown, and its credentials are only written', async () => {
  const { dialog, form } = await edit(PUSHED);
  screen.getByText('registry.example/atom/envs (with credentials)');
  serve('PUT', PATH, PUSHED);
  const repository = form.getByLabelText('Images of environments');
  expect(repository).toHaveProperty('value', 'registry.example/atom/envs');
  const credentials = form.getByLabelText('Credentials for the registry');
  expect(credentials).toHaveProperty('value', '');
  await userEvent.type(credentials, '{{"auths": {{}}');
  await expectNoViolations(dialog);
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(put()).toHaveLength(1));
  expect(put()[0]).toMatchObject({
    image_repository: 'registry.example/atom/envs',
    image_credentials: '{"auths": {}}',
  });
});

test('stored credentials stay unless a person forgets them', async () => {
  const { form } = await edit(PUSHED);
  serve('PUT', PATH, PUSHED);
  await userEvent.click(form.getByLabelText('Forget the stored credentials'));
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(put()).toHaveLength(1));
  expect(put()[0]).toMatchObject({ image_credentials: '' });
});

test('what the form and the server refuse stands at its field', async () => {
  const { form } = await edit(FULL);
  const settings = form.getByLabelText('Settings');
  await userEvent.type(settings, '\nnothing');
  const limit = form.getByLabelText('Needed memlock limit, KiB');
  await userEvent.type(limit, 'x');
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText('Line 2 is no NAME=value.');
  form.getByText(/Use a whole number above 0/);
  expect(put()).toEqual([]);
  await userEvent.clear(limit);
  await userEvent.clear(settings);
  await userEvent.type(settings, 'LD_PRELOAD=x');
  const errors = { 'nccl.LD_PRELOAD': ['Only NCCL_ here.'], 'tolerations.0.key': ['No key.'] };
  const refused = { status: 400, code: 'invalid', title: '', errors };
  serve('PUT', PATH, () => new Response(JSON.stringify(refused), { status: 400, headers: PROBLEM }));
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText('LD_PRELOAD: Only NCCL_ here.');
  form.getByText('No key.');
});
