import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ClusterPage } from '../../index';
import { signedInAs, whole } from '../clusters.fixtures';

const GiB = 2 ** 30;
const disk = (extra: object = {}) => ({
  total_bytes: 2000 * GiB,
  free_bytes: 1200 * GiB,
  cache_bytes: 300 * GiB,
  limit_bytes: 500 * GiB,
  is_read_only: false,
  problem: '',
  ...extra,
});
const card = (index: number, extra: object = {}) => ({
  index,
  uuid: `GPU-${index}`,
  model: 'H100',
  memory_bytes: 80 * GiB,
  memory_used_bytes: 8 * GiB,
  busy: 0.5,
  links: [{ to: `GPU-${1 - index}`, kind: 'nvlink' }],
  ...extra,
});
const agent = (node: string, extra: object = {}) => ({
  node,
  version: '0.1.0',
  joined_at: '2026-01-01T00:00:00Z',
  reported_at: '2026-01-01T01:00:00Z',
  is_reporting: true,
  disk: disk(),
  gpus: [card(0), card(1, { busy: null })],
  xid_events: [],
  capacity_bytes: 500 * GiB,
  used_bytes: 300 * GiB,
  promised_bytes: 40 * GiB,
  pending_removals: 0,
  has_volumes: false,
  volumes: 0,
  ...extra,
});

const CACHE = 'clusters/{cluster}/cache/';

async function open(agents: object[]) {
  signedInAs(true);
  serve('GET', 'clusters/{cluster}/', whole());
  serve('GET', 'clusters/{cluster}/agents/', agents);
  serve('GET', CACHE, { limit_bytes: 500 * GiB, replace_after_s: 300 });
  return renderPage(<ClusterPage />, '/settings/clusters/far', '/settings/clusters/$cluster');
}

afterEach(() => setLanguage('en'));

test('an agent shows its disk, its cards and how they reach each other', async () => {
  const { container } = await open([agent('n1')]);
  const shown = within(await screen.findByRole('article', { name: 'n1' }));
  shown.getByText('Reports');
  shown.getByText('300 GiB of at most 500 GiB');
  shown.getByText('40 GiB');
  expect(shown.queryByText('To be removed')).toBeNull();
  shown.getByText('1.2 TiB of 2 TiB');
  const cards = within(shown.getByRole('table', { name: 'Cards of n1' }));
  cards.getByText('50%');
  cards.getByText('NVLink: 1');
  screen.getByText('1 node has no agent: n2');
  await expectNoViolations(container);
});

test('an agent that nothing is promised to says so, with the packs that go and its volumes', async () => {
  await open([agent('n1', { promised_bytes: 0, pending_removals: 3, has_volumes: true, volumes: 2 })]);
  const shown = within(await screen.findByRole('article', { name: 'n1' }));
  shown.getByText('nothing');
  shown.getByText('3 packs');
  expect(shown.getByText('Volumes of pods').nextElementSibling?.textContent).toBe('2');
});

const caches = async () => within(await screen.findByRole('region', { name: 'Caches of the nodes' }));

test('the caches show their limit and use, and get another limit', async () => {
  const { container } = await open([agent('n1'), agent('n2', { used_bytes: 450 * GiB })]);
  const section = await caches();
  await section.findByText('750 GiB of at most 1,000 GiB');
  section.getByText('n2, 90% full');
  section.getByText('another node takes over after 5m 00s');
  await expectNoViolations(container);
  await userEvent.click(section.getByRole('button', { name: 'Edit the caches' }));
  const dialog = within(await screen.findByRole('dialog'));
  const limit = dialog.getByRole('textbox', { name: 'Limit of each node, GiB' });
  await userEvent.clear(limit);
  await userEvent.type(limit, '-1');
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
  dialog.getByText(/Use a number above 0 and up to 1048576/);
  expect(sent.some(({ line }) => line.startsWith('PUT'))).toBe(false);
  await userEvent.clear(limit);
  await userEvent.type(limit, '400.5');
  dialog.getByText('1 node holds more and removes packs: n2');
  serve('PUT', CACHE, { limit_bytes: 400.5 * GiB, replace_after_s: 300 });
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
  await section.findByText('400.5 GiB');
  expect(sent.find(({ line }) => line.startsWith('PUT'))?.body).toEqual({
    limit_bytes: 400.5 * GiB,
    replace_after_s: 300,
  });
});

test('a limit that the server refuses is told at its field', async () => {
  await open([agent('n1')]);
  await userEvent.click(await (await caches()).findByRole('button', { name: 'Edit the caches' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.clear(dialog.getByRole('textbox', { name: 'Limit of each node, GiB' }));
  const refusal = {
    status: 400,
    code: 'invalid',
    title: 'Some values are not right.',
    detail: '',
    action: '',
    errors: { replace_after_s: ['Too short.'] },
  };
  const headers = { 'content-type': 'application/problem+json' };
  serve('PUT', CACHE, () => new Response(JSON.stringify(refusal), { status: 400, headers }));
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
  await dialog.findByText('Too short.');
  expect(sent.find(({ line }) => line.startsWith('PUT'))?.body).toEqual({ limit_bytes: null, replace_after_s: 300 });
});

test('a silent agent comes first and names its pod; errors of cards say their meaning', async () => {
  const event = { gpu: 'GPU-1', xid: 79, at: '2026-01-01T00:30:00Z' };
  const { container } = await open([
    agent('n1'),
    agent('n2', { is_reporting: false, disk: disk({ is_read_only: true }), xid_events: [event] }),
  ]);
  const [first] = await screen.findAllByRole('article');
  const shown = within(first as HTMLElement);
  shown.getByText('Silent');
  shown.getByText('kubectl -n atom get pods -o wide --field-selector spec.nodeName=n2');
  shown.getByText('Read-only disk');
  shown.getByText(/The card does not answer on its bus\. Move runs off the node and restart it\./);
  shown.getByText('XID 79');
  await expectNoViolations(container);
});

test('without agents the page says how to install them', async () => {
  await open([]);
  await screen.findByText('No node of far has an agent');
  screen.getByText('atom cluster agent far | kubectl apply -f -');
});

test('an error of an unknown number is shown with its number', async () => {
  await open([agent('n1', { xid_events: [{ gpu: 'GPU-0', xid: 999, at: '2026-01-01T00:30:00Z' }] })]);
  await screen.findByText('XID 999');
  expect(screen.getByText(/Look for this number/)).toBeTruthy();
});

test('a table shows the share of each version on each node, and its need by name', async () => {
  serve('GET', 'clusters/{cluster}/coverage/', {
    nodes: [
      { node: 'n1', is_reporting: true },
      { node: 'n2', is_reporting: false },
    ],
    versions: [{ id: 'v', project: 'vision', dataset: 'pets', ref: 'v3', bytes_total: GiB, packs_total: 8 }],
    cells: [
      {
        node: 'n1',
        version: 'v',
        state: 'warming',
        bytes_present: GiB / 2,
        bytes_total: GiB,
        packs_present: 4,
        coverage: 0.5,
        need: 'pinned',
        used_at: null,
      },
    ],
    left_out: 0,
  });
  const { container } = await open([agent('n1'), agent('n2')]);
  const map = within(await screen.findByRole('table', { name: 'Share of each version on each node of far' }));
  const cell = map.getByRole('cell', { name: /50%/ });
  within(cell).getByRole('img', { name: 'a plan keeps it' });
  expect(cell.title).toBe('512 MiB of 1 GiB');
  expect(map.getByRole('link', { name: 'pets@v3' }).getAttribute('href')).toContain('/datasets/pets/warm-up');
  await expectNoViolations(container);
});
