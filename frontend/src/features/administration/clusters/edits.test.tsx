import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ClusterPage } from '../index';
import { finding, node, signedInAs, whole } from './clusters.fixtures';

const PROBLEM = { 'content-type': 'application/problem+json' };
const show = () => renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');

async function open(item: string, extra: object = {}) {
  signedInAs(true);
  serve('GET', 'projects/', listing(...['audio', 'vision'].map((slug) => ({ slug, name: slug, role: 'admin' }))));
  serve('GET', 'clusters/{cluster}/', whole(extra));
  serve('GET', 'clusters/{cluster}/runs/', listing());
  serve('PATCH', 'clusters/{cluster}/', whole(extra));
  await show();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: item }));
  const dialog = await screen.findByRole('dialog', { name: item });
  const form = within(dialog);
  await form.findByRole('button', { name: 'Save' });
  return { dialog, form };
}

const patched = () => sent.filter(({ line }) => line === 'PATCH /api/v1/clusters/far/').map(({ body }) => body);

test('access that is taken away is named, and the button says it', async () => {
  const { dialog, form } = await open('Projects and namespace');
  await userEvent.click(form.getByRole('radio', { name: 'Only these' }));
  await form.findByText('2 projects lose the cluster');
  await userEvent.click(form.getByRole('combobox', { name: 'Projects' }));
  await userEvent.click(await screen.findByRole('option', { name: 'vision' }));
  within(form.getByRole('status')).getByText('audio');
  await expectNoViolations(dialog);
  await userEvent.click(form.getByRole('button', { name: 'Take it from 1 project' }));
  await waitFor(() => expect(patched()).toEqual([{ projects: ['vision'] }]));
});

test('access for all takes nothing away, and what is unchanged is not sent', async () => {
  const { form } = await open('Projects and namespace', { projects: ['vision'] });
  await userEvent.click(form.getByRole('radio', { name: 'All projects' }));
  expect(form.queryByRole('status')).toBeNull();
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(patched()).toEqual([{ projects: null }]));
});

test('a namespace that is none is refused at its field, and so is what the server refuses', async () => {
  const { form } = await open('Projects and namespace');
  const field = form.getByLabelText('Namespace');
  await userEvent.clear(field);
  await userEvent.type(field, 'No Good');
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText(/Use 1 to 63 lower-case letters/);
  expect(patched()).toEqual([]);
  const refused = { status: 400, code: 'invalid', title: '', errors: { namespace: ['That one is taken.'] } };
  serve('PATCH', 'clusters/{cluster}/', () => new Response(JSON.stringify(refused), { status: 400, headers: PROBLEM }));
  await userEvent.clear(field);
  await userEvent.type(field, 'jobs');
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText('That one is taken.');
  expect(patched()).toEqual([{ namespace: 'jobs' }]);
});

test('ways to stores are changed, added and removed; a wrong one is said at its field', async () => {
  const atom = { store: 'atom', bandwidth_bytes_per_s: 125_000_000, egress_per_gib: '0.080000', currency: 'EUR' };
  const { dialog, form } = await open('Set ways to stores', { stores: [atom, { ...atom, store: 'old' }] });
  await userEvent.click(form.getByRole('button', { name: 'Remove old' }));
  const rate = form.getByLabelText('Bandwidth, MB/s');
  expect(rate).toHaveProperty('value', '125');
  await userEvent.clear(rate);
  await userEvent.type(rate, '0');
  await userEvent.click(form.getByRole('button', { name: 'Add a store' }));
  const added = within(form.getByRole('group', { name: 'New store' }));
  await userEvent.type(added.getByLabelText('Store'), 'atom');
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText(/Use a number above 0/);
  expect(form.getAllByText('This store stands here twice.').length).toBe(2);
  await expectNoViolations(dialog);
  expect(patched()).toEqual([]);
  await userEvent.clear(rate);
  await userEvent.type(rate, '62.5');
  const store = form.getAllByLabelText('Store')[1] as HTMLElement;
  await userEvent.clear(store);
  await userEvent.type(store, 'archive');
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() =>
    expect(patched()).toEqual([
      {
        stores: [
          { ...atom, bandwidth_bytes_per_s: 62_500_000, egress_per_gib: '0.08' },
          { store: 'archive', bandwidth_bytes_per_s: null, egress_per_gib: '0', currency: 'EUR' },
        ],
      },
    ]),
  );
});

test('a pod is tried once at a time; its finding says how far it is', async () => {
  signedInAs(true);
  serve('GET', 'clusters/{cluster}/', whole());
  serve('GET', 'clusters/{cluster}/runs/', listing());
  const said = { code: 'jobs.wait_image_pull', params: { image: 'none:1', said: 'no such image', since: '' } };
  const underWay = finding('warn', 'pod_reaches_atom', 'A pod is being tried. The image none:1 cannot be pulled.', {
    detail_code: 'clusters.pod_under_way',
    detail_params: { said },
    evidence: { asked_at: '2026-01-01T00:00:00Z', under_way: true },
  });
  serve('POST', 'clusters/{cluster}/pod-check/', () => {
    serve('GET', 'clusters/{cluster}/', whole({ findings: [underWay] }));
    return whole({ findings: [underWay] });
  });
  const { container } = await show();
  const button = await screen.findByRole('button', { name: 'Try a pod' });
  await userEvent.click(button);
  const checks = within(screen.getByRole('region', { name: 'Checks' }));
  await checks.findByText('Under way');
  checks.getByText(/none:1 cannot be pulled/);
  expect(button).toHaveProperty('disabled', true);
  await expectNoViolations(container);
});

test('open runs are listed with their project and node; closed and silent nodes say so', async () => {
  signedInAs(false);
  const nodes = [node('n1', { schedulable: false }), node('n2', { ready: false }), node('n3')];
  serve('GET', 'clusters/{cluster}/', whole({ nodes, server: null, findings: null }));
  const run = {
    id: 'r7',
    number: 7,
    name: 'train',
    project: 'vision',
    state: 'running',
    node: 'n3',
    gpus: 2,
    created_by: 'lin',
    created_at: '2026-01-01T00:00:00Z',
    started_at: null,
  };
  serve('GET', 'clusters/{cluster}/runs/', listing(run));
  const { container } = await show();
  const runs = within(await screen.findByRole('region', { name: 'Runs here' }));
  const link = await runs.findByRole('link', { name: /train/ });
  expect(link.getAttribute('href')).toContain('/runs/r7?project=vision');
  runs.getByText('Running');
  const row = (name: string) => within(screen.getByText(name, { selector: 'td' }).closest('tr') as HTMLElement);
  row('n1').getByText('closed');
  row('n2').getByText('not ready');
  await expectNoViolations(container);
});

test('without open runs the page says so, and a list that cannot be read can be asked for again', async () => {
  signedInAs(true);
  serve('GET', 'clusters/{cluster}/', whole());
  serve('GET', 'clusters/{cluster}/runs/', listing());
  const { unmount } = await show();
  await screen.findByText('No open run of your projects is here.');
  unmount();
  serve('GET', 'clusters/{cluster}/runs/', () => problem(404, 'cluster_not_found', 'There is no such cluster.'));
  await show();
  const runs = within(await screen.findByRole('region', { name: 'Runs here' }));
  await runs.findByText('There is no such cluster.');
});
