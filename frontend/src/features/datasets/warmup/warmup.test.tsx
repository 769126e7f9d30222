import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { PlansPage, WarmUpPage } from '../index';
import { choice, nodeChoice, part, plan, record } from './warmup.fixtures';

const VERSION = 'projects/{project}/datasets/pets/versions/v3/';
const PLANS = 'projects/{project}/warm-plans/';

afterEach(() => setLanguage('en'));

function serveVersion(choices: object[], ...plans: object[]) {
  serve('GET', `${VERSION}cache/`, [record()]);
  serve('GET', `${VERSION}warm-choices/`, choices);
  serve('GET', `${VERSION}warm-plans/`, listing(...plans));
  serve('GET', 'projects/{project}/warm-schedules/', listing());
}
const openVersion = (search = '') =>
  renderPage(<WarmUpPage />, `/datasets/pets/warm-up?ref=v3${search}`, '/datasets/$name/warm-up');
const openPlans = (search = '') => renderPage(<PlansPage />, `/warm-plans${search}`, '/warm-plans');

test('a version shows its nodes in clusters, and its plans with their progress', async () => {
  serveVersion(
    [choice(nodeChoice('gpu-1', { bytes_present: 2 ** 29 }), nodeChoice('gpu-2', { lacking_bytes: 2 ** 20 }))],
    plan(),
  );
  const { container } = await openVersion();
  const nodes = within(await screen.findByRole('table', { name: 'Nodes of east' }));
  nodes.getByText('50%');
  nodes.getByText('lacks 1 MiB');
  const card = within(screen.getByRole('group', { name: 'Plan for pets@v3 in east' }));
  card.getByText('Running');
  card.getByText('1 GiB of 2 GiB');
  card.getByText('100 MiB/s');
  card.getByText('0 of 2');
  await expectNoViolations(container);
});

test('the nodes of a plan open by the keyboard, with the sources of their packs', async () => {
  const waits = part('gpu-2', {
    state: 'waiting',
    error: 'The agent of gpu-2 does not report; its part waits.',
    error_code: 'cache.agent_silent',
    error_params: { node: 'gpu-2' },
  });
  serveVersion([choice(nodeChoice('gpu-1'))], plan({ nodes: [part('gpu-1'), waits] }));
  const { container } = await openVersion();
  const button = await screen.findByRole('button', { name: 'Nodes of the plan for pets@v3' });
  expect(button.getAttribute('aria-expanded')).toBe('false');
  button.focus();
  await userEvent.keyboard('{Enter}');
  const list = within(await screen.findByRole('list', { name: 'Nodes of the plan for pets@v3' }));
  list.getAllByText('3 packs');
  list.getAllByText('1 pack');
  list.getByText(/does not report; its part waits\. The part goes on when the agent is back\./);
  await expectNoViolations(container);
});

test('a plan is started for chosen nodes', async () => {
  serveVersion([choice(nodeChoice('gpu-1', { bytes_present: 2 ** 29 }), nodeChoice('gpu-2', { is_reporting: false }))]);
  serve('POST', `${VERSION}warm-plans/`, plan());
  await openVersion();
  await screen.findByText('No plan brings this version to a cluster yet');
  await userEvent.click(screen.getByRole('button', { name: 'Start a plan' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.click(await dialog.findByRole('radio', { name: 'Nodes that I choose' }));
  expect(dialog.getByRole<HTMLInputElement>('checkbox', { name: 'gpu-2' }).disabled).toBe(true);
  await userEvent.click(dialog.getByRole('checkbox', { name: 'gpu-1' }));
  dialog.getByText('At most 512 MiB are fetched.');
  await userEvent.type(dialog.getByRole('textbox', { name: 'Rate, MB/s' }), '200');
  await userEvent.click(dialog.getByRole('radio', { name: 'It stays until you release it' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Start a plan' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const body = sent.find(({ line }) => line.startsWith('POST') && line.endsWith('/warm-plans/'))?.body;
  expect(body).toEqual({ cluster: 'east', nodes: ['gpu-1'], rate_bytes_s: 200e6, pinned: true });
});

test('a plan keeps its version for days; wrong days are refused in words', async () => {
  serveVersion([choice(nodeChoice('gpu-1'))]);
  serve('POST', `${VERSION}warm-plans/`, plan());
  await openVersion();
  await userEvent.click(await screen.findByRole('button', { name: 'Start a plan' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.click(await dialog.findByRole('radio', { name: 'It stays for some days' }));
  const days = dialog.getByRole('textbox', { name: 'Days' });
  await userEvent.clear(days);
  await userEvent.type(days, '400');
  await userEvent.click(dialog.getByRole('button', { name: 'Start a plan' }));
  dialog.getByText('Use a number from 0.01 to 366.');
  await userEvent.clear(days);
  await userEvent.type(days, '30');
  const before = Date.now();
  await userEvent.click(dialog.getByRole('button', { name: 'Start a plan' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const body = sent.find(({ line }) => line.startsWith('POST') && line.endsWith('/warm-plans/'))?.body;
  const until = Date.parse((body as { keep_until: string }).keep_until);
  expect(body).toMatchObject({ cluster: 'east', copies: 1, pinned: false });
  expect(Math.abs(until - before - 30 * 86_400_000)).toBeLessThan(10_000);
});

test('a plan says until when its version stays, and nothing once that has passed', async () => {
  const past = plan({ id: 'p2', state: 'done', ref: 'v2', keep_until: '2026-01-02T00:00:00Z' });
  serve('GET', PLANS, listing(plan({ keep_until: '2999-01-01T00:00:00Z' }), past));
  await openPlans();
  const kept = within(await screen.findByRole('group', { name: 'Plan for pets@v3 in east' }));
  kept.getByText('Stays until');
  const gone = within(screen.getByRole('group', { name: 'Plan for pets@v2 in east' }));
  expect(gone.queryByText('Stays until')).toBeNull();
});

test('a refusal is told in Chinese with its next step', async () => {
  serveVersion([choice(nodeChoice('gpu-1'))]);
  const refusal = {
    status: 409,
    code: 'cache_too_small',
    title: 'The version does not fit on a node.',
    detail: 'The cache of gpu-1 lacks 512 bytes for this version.',
    detail_code: 'cache.node_too_small',
    detail_params: { node: 'gpu-1', bytes: 512 },
    action: 'Evict other versions there, choose other nodes, or enlarge the cache.',
  };
  const headers = { 'content-type': 'application/problem+json' };
  serve('POST', `${VERSION}warm-plans/`, () => new Response(JSON.stringify(refusal), { status: 409, headers }));
  await setLanguage('zh');
  await openVersion();
  await userEvent.click(await screen.findByRole('button', { name: '启动计划' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.click(await dialog.findByRole('button', { name: '启动计划' }));
  await dialog.findByText(/gpu-1 的缓存还差 512 字节才能放下该版本。/);
  dialog.getByText(/请在那里清出其他版本、选择其他节点，或扩大缓存。/);
});

test('a cluster without agents says how to install them', async () => {
  serveVersion([choice()]);
  const { container } = await openVersion();
  await screen.findByText('No node of east has an agent');
  screen.getByText('atom cluster agent east | kubectl apply -f -');
  expect(screen.queryByRole('button', { name: 'Start a plan' })).toBeNull();
  await expectNoViolations(container);
});

test('plans of the project lead to their versions, and those of one state are asked for', async () => {
  const failed = plan({
    id: 'p2',
    state: 'failed',
    ended_at: '2026-01-01T01:00:00Z',
    error: 'The deadline of the plan passed.',
    error_code: 'cache.plan_overdue',
    error_params: {},
  });
  serve('GET', PLANS, (_: Request, url: URL) =>
    url.searchParams.get('state') === 'failed' ? listing(failed) : listing(plan(), failed),
  );
  const { container } = await openPlans();
  const [link] = await screen.findAllByRole('link', { name: 'pets@v3' });
  expect(link?.getAttribute('href')).toContain('/datasets/pets/warm-up');
  await expectNoViolations(container);
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'State' }), 'Failed');
  await screen.findByText(/The deadline of the plan passed\. Start it again with more time/);
  await waitFor(() => expect(screen.queryAllByRole('link', { name: 'pets@v3' })).toHaveLength(1));
});

test('a link to an older plan shows it above the newer ones, with its nodes', async () => {
  serve('GET', PLANS, listing(plan()));
  serve('GET', `${PLANS}old/`, plan({ id: 'old', ref: 'v1', state: 'done' }));
  await openPlans('?plan=old');
  const cards = await screen.findAllByRole('group', { name: /^Plan for pets@/ });
  expect(cards.map((card) => card.getAttribute('aria-label'))).toEqual([
    'Plan for pets@v1 in east',
    'Plan for pets@v3 in east',
  ]);
  await screen.findByRole('list', { name: 'Nodes of the plan for pets@v1' });
});

test('a running plan is cancelled a moment later, and a kept version is released', async () => {
  serve('GET', PLANS, listing(plan(), plan({ id: 'p2', state: 'done', pinned: true, ref: 'v2' })));
  await openPlans();
  await screen.findByText('Kept');
  screen.getByRole('button', { name: 'Release pets@v2' });
  await userEvent.click(screen.getByRole('button', { name: 'Cancel the plan for pets@v3' }));
  expect(screen.queryByRole('button', { name: 'Cancel the plan for pets@v3' })).toBeNull();
  expect(sent.some(({ line }) => line.includes('/cancel/'))).toBe(false);
});

test('a project without plans says where one starts', async () => {
  serve('GET', PLANS, listing());
  const { container } = await openPlans();
  await screen.findByText('No warm-up plan yet');
  screen.getByRole('link', { name: 'To the datasets' });
  await expectNoViolations(container);
});
