import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import '../words/index';
import ReplicasDialog from './ReplicasDialog';

const AT = 'projects/{project}/datasets/{dataset}/versions/{ref}/replicas/';
const PREVIEW = 'projects/{project}/datasets/{dataset}/versions/{ref}/replica-preview/';
const GIB = 2 ** 30;
const replica = {
  id: 'r1',
  dataset: 'digits',
  ref: 'v1',
  store: 'frankfurt',
  state: 'there',
  pinned: false,
  ends_at: '2036-01-01T00:00:00Z',
  rate_bytes_s: null,
  packs_total: 8,
  packs_copied: 8,
  packs_verified: 8,
  bytes_total: 2 * GIB,
  bytes_copied: 2 * GIB,
  bytes_verified: 2 * GIB,
  bytes_to_copy: GIB,
  cost: '0.090000',
  cost_per_month: '0.046000',
  currency: 'EUR',
  started_at: '2026-01-01T00:00:00Z',
  verified_at: '2026-01-01T01:00:00Z',
  removes_at: null,
  retry_at: null,
  error: null,
};
const preview = {
  store: 'tokyo',
  packs_total: 8,
  bytes_total: 2 * GIB,
  packs_to_copy: 4,
  bytes_to_copy: GIB,
  cost: '0.090000',
  cost_per_month: null,
  currency: 'EUR',
};

async function open(rows: object[], stores = ['frankfurt', 'tokyo']) {
  serve('GET', AT, rows);
  serve('GET', 'stores/', listing(...stores.map((name) => ({ id: name, name }))));
  serve('GET', PREVIEW, preview);
  const dialog = <ReplicasDialog name="digits" address={{ project: 'p', dataset: 'digits', ref: 'v1' }} />;
  return renderPage(dialog, '/datasets/digits', '/datasets/$name');
}

test('a replica shows its state, its end and its price', async () => {
  const { container } = await open([replica]);
  const card = within(await screen.findByRole('region', { name: 'frankfurt' }));
  card.getByText('There');
  card.getByText('Price: €0.09 once, €0.05 a month');
  card.getByText(/^Verified/);
  card.getByText(/^Ends/);
  await expectNoViolations(container);
});

test('the price is shown before the copy starts', async () => {
  await open([replica]);
  await screen.findByText(/^1 GiB of 2 GiB would be sent: 4 of 8 packs/);
  screen.getByText('Price: €0.09 once, unknown a month.');
  serve('POST', AT, { ...replica, store: 'tokyo', state: 'waiting' });
  await userEvent.selectOptions(screen.getByLabelText('How long it stays'), 'pin');
  await userEvent.type(screen.getByLabelText('The most megabytes a second'), '200');
  await userEvent.click(screen.getByRole('button', { name: 'Start copying' }));
  const posts = () => sent.filter(({ line }) => line.startsWith('POST ') && line.endsWith('/replicas/'));
  await waitFor(() => expect(posts()).toHaveLength(1));
  expect(posts()[0]?.body).toEqual({ store: 'tokyo', pinned: true, rate_bytes_s: 200_000_000 });
});

test('a copy on its way shows its progress and can be cancelled', async () => {
  await open([{ ...replica, state: 'copying', verified_at: null, bytes_copied: GIB, bytes_verified: 0 }]);
  const bar = await screen.findByRole('progressbar', { name: 'Progress of the replica in frankfurt' });
  expect(bar.getAttribute('aria-valuenow')).toBe('25');
  serve('DELETE', `${AT}frankfurt/`, { ...replica, state: 'removing' });
  await userEvent.click(screen.getByRole('button', { name: 'Cancel the copy to frankfurt' }));
  await waitFor(() => expect(sent.some(({ line }) => line.startsWith('DELETE '))).toBe(true));
});

test('a failure says what to do, and the store can be chosen again', async () => {
  const error = { code: 'other', detail: 'The bucket refuses these credentials.', action: 'Give other keys.' };
  await open([{ ...replica, state: 'failed', error }], ['frankfurt']);
  await screen.findByText(/refuses these credentials\. Give other keys\./);
  expect((screen.getByLabelText('Store') as HTMLSelectElement).value).toBe('frankfurt');
});

test('a replica is removed after a question', async () => {
  await open([replica]);
  await userEvent.click(await screen.findByRole('button', { name: 'Remove the replica in frankfurt' }));
  const question = within(await screen.findByRole('dialog'));
  question.getByText(/Packs that other replicas need stay/);
  serve('DELETE', `${AT}frankfurt/`, { ...replica, state: 'removing' });
  await userEvent.click(question.getByRole('button', { name: 'Remove' }));
  await waitFor(() => expect(sent.some(({ line }) => line.startsWith('DELETE '))).toBe(true));
});

test('without stores the dialog says who adds one', async () => {
  await open([], []);
  await screen.findByText('There is no second store yet. An administrator of the installation adds one.');
  screen.getByText('This version has no replica yet.');
});
