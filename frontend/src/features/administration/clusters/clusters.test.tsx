import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ClusterPage, ClustersPage } from '../index';
import { cluster, missing, node, signedInAs, whole, YAML } from './clusters.fixtures';
import { acceleratorsOf } from './parts';

const PROBLEM = { 'content-type': 'application/problem+json' };

afterEach(() => setLanguage('en'));

test('each cluster says its state, what is free and its accelerators', async () => {
  serve('GET', 'clusters/', listing(cluster(), cluster({ id: 'c2', name: 'near', kind: 'local', nodes: [] })));
  const { container } = await renderPage(<ClustersPage />, '/settings/clusters');
  const far = within(await screen.findByRole('region', { name: 'far' }));
  far.getByText('Ready');
  // The closed node takes no runs.
  far.getByText('24 of 32 CPUs');
  far.getByText('8 × nvidia.com/gpu');
  within(screen.getByRole('region', { name: 'near' })).getByText('none');
  await expectNoViolations(container);
});

test('a cluster names Jobs that belong to no run, with the command that deletes each', async () => {
  const command = 'kubectl delete job atom-1 --namespace jobs-vision --cascade=background';
  const times = { made_at: '2026-01-01T00:00:00Z', seen_at: '2026-01-02T00:00:00Z' };
  const job = { id: 'j1', namespace: 'jobs-vision', name: 'atom-1', uid: 'u1', pods: 2, command, ...times };
  serve('GET', 'clusters/{cluster}/', whole());
  serve('GET', 'clusters/{cluster}/unknown-jobs/', listing(job));
  const { container } = await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  const section = within(await screen.findByRole('region', { name: 'Unknown Jobs' }));
  section.getByText('atom-1');
  section.getByText('jobs-vision');
  section.getByText(command);
  section.getByText(/Atom leaves them alone/);
  await expectNoViolations(container);
});

test('a cluster shows what is in the way first, with the YAML that grants it', async () => {
  serve('GET', 'clusters/{cluster}/', whole());
  const { container } = await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  const checks = within(await screen.findByRole('region', { name: 'Checks' }));
  expect(checks.getAllByText(/Good|In the way/).map(({ textContent }) => textContent)).toEqual(['In the way', 'Good']);
  checks.getByText(YAML);
  screen.getByText('https://far.example:6443');
  screen.getByText('nvidia.com/gpu: 2.5 EUR an hour');
  await expectNoViolations(container);
});

test('the nodes of a cluster say what runs leave free of each kind', async () => {
  const kinds = [
    { kind: 'A100', count: 4, resource: 'nvidia.com/gpu', used: 3 },
    { kind: 'T4', count: 2, resource: 'nvidia.com/gpu', used: null },
  ];
  const own = { accelerators: [], gpu_count: 2, gpu_model: 'H100', used: { cpus: 8, memory_bytes: 0, gpus: 2 } };
  serve('GET', 'clusters/{cluster}/', whole({ nodes: [node('n1', { accelerators: kinds }), node('n2', own)] }));
  await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  const nodes = within(await screen.findByRole('region', { name: 'Nodes' }));
  nodes.getByText('1 of 4 × A100, 2 × T4');
  nodes.getByText('0 of 2 × H100');
});

test('its checks and its problem are said in Chinese', async () => {
  setLanguage('zh');
  const gone = { code: 'cluster_unreachable', detail: 'x', detail_code: 'clusters.no_connection', action: 'y' };
  serve('GET', 'clusters/{cluster}/', whole({ problem: { ...gone, detail_params: { host: 'far' } } }));
  await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  await screen.findByText('该账户缺少 9 项权限中的 1 项。');
  screen.getByText(/无法连接到 far/);
});

test('an administrator drains a cluster, and removes it by typing its name', async () => {
  signedInAs(true);
  serve('GET', 'clusters/{cluster}/', whole());
  serve('POST', 'clusters/{cluster}/drain/', whole({ state: 'draining' }));
  serve('DELETE', 'clusters/{cluster}/', new Response(null, { status: 204 }));
  await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  await userEvent.click(await screen.findByRole('button', { name: 'Take no new runs' }));
  await screen.findByRole('button', { name: 'Take runs again' });
  await userEvent.click(screen.getByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Remove' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Remove the cluster far?' }));
  await userEvent.type(dialog.getByRole('textbox'), 'far');
  await userEvent.click(dialog.getByRole('button', { name: 'Remove' }));
  await waitFor(() => expect(sent.map(({ line }) => line)).toContain('DELETE /api/v1/clusters/far/'));
});

test('an administrator sets the price of each kind, and a wrong one is said at its field', async () => {
  signedInAs(true);
  serve('GET', 'clusters/{cluster}/', whole());
  serve('PATCH', 'clusters/{cluster}/', whole());
  await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Set prices' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Set prices' }));
  const price = dialog.getByLabelText('nvidia.com/gpu, an hour');
  expect((price as HTMLInputElement).value).toBe('2.5');
  await userEvent.clear(price);
  await userEvent.type(price, '1,5');
  dialog.getByText(/Use a number of at least 0/);
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
  expect(sent.some(({ line }) => line.startsWith('PATCH'))).toBe(false);
  await userEvent.clear(price);
  await userEvent.type(price, '1.75');
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
  const patched = () => sent.filter(({ line }) => line === 'PATCH /api/v1/clusters/far/');
  await waitFor(() => expect(patched().length).toBe(1));
  const row = { kind: 'nvidia.com/gpu', per_hour: '1.75', currency: 'EUR' };
  expect(patched()[0]?.body).toEqual({ prices: [row] });
});

test('those who do not administer the installation see no address, check or button', async () => {
  serve('GET', 'clusters/{cluster}/', whole({ server: null, namespace: null, findings: null }));
  signedInAs(false);
  await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  await screen.findByRole('region', { name: 'Nodes' });
  expect(screen.queryByRole('region', { name: 'Checks' })).toBeNull();
  expect(screen.queryByText('Address')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Check now' })).toBeNull();
});

test('a cluster of another kind than Kubernetes cannot be checked or removed here', async () => {
  signedInAs(true);
  serve('GET', 'clusters/{cluster}/', whole({ kind: 'local', server: '', findings: [] }));
  await renderPage(<ClusterPage />, '/settings/clusters/near', '/settings/clusters/$cluster');
  await screen.findByRole('region', { name: 'Nodes' });
  expect(screen.queryByRole('button', { name: 'Check now' })).toBeNull();
});

async function openForm() {
  signedInAs(true);
  serve('GET', 'clusters/', listing());
  await renderPage(<ClustersPage />, '/settings/clusters');
  await userEvent.click(await screen.findByRole('button', { name: 'Register cluster' }));
  return within(await screen.findByRole('dialog'));
}

test('a kubeconfig is tested before it is kept, and a refusal stands at its field', async () => {
  const form = await openForm();
  await userEvent.type(form.getByLabelText('Name'), 'far');
  await userEvent.type(form.getByLabelText('Kubeconfig'), 'apiVersion: v1');
  serve('POST', 'clusters/check/', {
    server: 'https://far.example',
    context: 'far',
    passed: false,
    findings: [missing],
    facts: {},
  });
  await userEvent.click(form.getByRole('button', { name: 'Test' }));
  await form.findByText('The cluster answers, and runs cannot start there yet.');
  form.getByText(YAML);
  // Another kubeconfig: what was said of the first one goes.
  await userEvent.type(form.getByLabelText('Kubeconfig'), ' #');
  expect(form.queryByText(YAML)).toBeNull();
  const errors = { kubeconfig: ['users[0].exec names a program.'] };
  const refused = { status: 422, code: 'kubeconfig_refused', title: 'Refused', detail: '', action: '', errors };
  serve('POST', 'clusters/', () => new Response(JSON.stringify(refused), { status: 422, headers: PROBLEM }));
  await userEvent.click(form.getByRole('button', { name: 'Register cluster' }));
  await form.findByText('users[0].exec names a program.');
  const registered = sent.filter(({ line }) => line === 'POST /api/v1/clusters/');
  expect(registered.map(({ body }) => body)).toEqual([{ name: 'far', kubeconfig: 'apiVersion: v1 #' }]);
});

test('the result of a test is brought into view', async () => {
  // All files share one process: the DOM's own function comes back after the test.
  const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView');
  onTestFinished(() => scrolled.mockRestore());
  const form = await openForm();
  await userEvent.type(form.getByLabelText('Kubeconfig'), 'apiVersion: v1');
  const refused = { status: 422, code: 'kubeconfig_refused', title: 'Refused', detail: 'No.', action: '' };
  serve('POST', 'clusters/check/', () => new Response(JSON.stringify(refused), { status: 422, headers: PROBLEM }));
  expect(scrolled).not.toHaveBeenCalled();
  await userEvent.click(form.getByRole('button', { name: 'Test' }));
  await form.findByText('No.');
  expect(scrolled).toHaveBeenCalled();
});

test('a wrong name and an empty kubeconfig are refused before anything is sent', async () => {
  const form = await openForm();
  await userEvent.type(form.getByLabelText('Name'), 'Far Away');
  await userEvent.click(form.getByRole('button', { name: 'Register cluster' }));
  await form.findByText(/Use 1 to 63 lower-case letters/);
  form.getByText('Paste a kubeconfig.');
  expect(sent.some(({ line }) => line.startsWith('POST'))).toBe(false);
});

test('GPUs of a machine count by their model where no kinds are known', () => {
  const nodes = [node('a', { accelerators: [], gpu_count: 2, gpu_model: 'A100' }), node('b')];
  expect(acceleratorsOf(nodes as never)).toEqual({ A100: 2, 'nvidia.com/gpu': 4 });
});
