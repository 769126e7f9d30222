import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ClusterPage, ClustersPage } from '../index';
import { acceleratorsOf } from './parts';

const PROBLEM = { 'content-type': 'application/problem+json' };

afterEach(() => setLanguage('en'));

const node = (name: string, extra: object = {}) => ({
  id: name,
  name,
  cpu_count: 32,
  memory_bytes: 2 ** 38,
  gpu_count: 4,
  gpu_model: '',
  accelerators: [{ kind: 'nvidia.com/gpu', count: 4 }],
  schedulable: true,
  heartbeat_at: null,
  used: { cpus: 8, memory_bytes: 2 ** 37, gpus: 0 },
  ...extra,
});
const cluster = (extra: object = {}) => ({
  id: 'c1',
  name: 'far',
  kind: 'kubernetes',
  state: 'ready',
  single_user: false,
  heartbeat_at: '2026-01-01T00:00:00Z',
  nodes: [node('n1'), node('n2', { schedulable: false })],
  ...extra,
});
const finding = (level: string, code: string, detail: string, extra: object = {}) => ({
  code,
  level,
  detail,
  detail_code: `clusters.${code}`,
  detail_params: {},
  evidence: {},
  ...extra,
});
const YAML = 'kind: ClusterRole';
const missing = finding('fail', 'rights_missing', 'The account lacks 1 of 9 rights.', {
  detail_params: { count: 1, all: 9 },
  evidence: { yaml: YAML },
});
const whole = (extra: object = {}) =>
  cluster({
    checked_at: '2026-01-01T00:00:00Z',
    version: 'v1.36.2',
    accelerators: { 'nvidia.com/gpu': 8 },
    prices: [{ kind: 'nvidia.com/gpu', per_hour: '2.5000', currency: 'EUR' }],
    stores: [],
    server: 'https://far.example:6443',
    namespace: 'atom',
    projects: null,
    facts: {},
    findings: [finding('ok', 'clock', 'The clocks agree.'), missing],
    problem: null,
    ...extra,
  });

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

test('a cluster shows what is in the way first, with the YAML that grants it', async () => {
  serve('GET', 'clusters/{cluster}/', whole());
  const { container } = await renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
  const checks = within(await screen.findByRole('region', { name: 'Checks' }));
  expect(checks.getAllByText(/Good|In the way/).map(({ textContent }) => textContent)).toEqual(['In the way', 'Good']);
  checks.getByText(YAML);
  screen.getByText('https://far.example:6443');
  screen.getByText('nvidia.com/gpu: 2.5000 EUR an hour');
  await expectNoViolations(container);
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

const signedInAs = (is_admin: boolean) =>
  serve('GET', 'auth/session/', {
    authenticated: true,
    user: { id: 'u', username: 'root', full_name: '', is_admin, administers_units: is_admin, language: 'en' },
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
