import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { signedInAs } from '../clusters/clusters.fixtures';
import { StoresPage } from '../index';

const store = {
  id: 's1',
  name: 'frankfurt',
  region: 'eu-central-1',
  endpoint: 'https://s3.example.org',
  bucket: 'mirror',
  prefix: 'atom/',
  has_credentials: true,
  egress_per_gib: '0.090000',
  write_per_gib: null,
  keep_per_gib_month: '0.023000',
  currency: 'EUR',
  checked_at: '2026-01-01T00:00:00Z',
  problem: null,
  replica_count: 3,
};

async function open(rows: object[], isAdmin = true) {
  signedInAs(isAdmin);
  serve('GET', 'projects/', listing());
  serve('GET', 'stores/', listing(...rows));
  return renderPage(<StoresPage />, '/settings/stores', '/settings/stores');
}

test('a store shows its check, its place and its fees', async () => {
  const { container } = await open([store]);
  const row = within((await screen.findByText('frankfurt')).closest('tr') as HTMLElement);
  row.getByText('Passed');
  row.getByText('https://s3.example.org · mirror/atom/ · eu-central-1');
  row.getByText('Egress 0.09 · writing unknown · month 0.023 EUR');
  row.getByText('3');
  await expectNoViolations(container);
});

test('a check that failed says why and what to do', async () => {
  const refused = {
    code: 'store_denied',
    detail: 'The bucket mirror refuses these credentials.',
    action: 'Give keys.',
  };
  await open([{ ...store, problem: refused }]);
  await screen.findByText('Failed');
  screen.getByText(/refuses these credentials\. Give keys\./);
  serve('POST', 'stores/{store}/check/', store);
  await userEvent.click(screen.getByRole('button', { name: 'More: frankfurt' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Check frankfurt' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/stores/frankfurt/check/'))).toBe(true));
});

test('a store is added with its keys, and a refusal stays in the form', async () => {
  await open([]);
  await screen.findByText('No second store yet');
  await userEvent.click(screen.getAllByRole('button', { name: 'Add store' })[0] as HTMLElement);
  const dialog = within(await screen.findByRole('dialog'));
  const type = (label: string, value: string) => fireEvent.change(dialog.getByLabelText(label), { target: { value } });
  await dialog.findByLabelText('Name');
  type('Name', 'frankfurt');
  type('Address of the S3 service', 'https://s3.example.org');
  type('Bucket', 'mirror');
  type('Egress per GiB', '0.09');
  await userEvent.click(dialog.getByRole('button', { name: 'Add store' }));
  await dialog.findAllByText('Give both keys.');
  dialog.getByText('Use the three letters of a currency, such as EUR.');
  type('Access key ID', 'KEY');
  type('Secret access key', 'SECRET');
  type('Currency', 'eur');
  serve('POST', 'stores/', () => problem(502, 'store_away', 'There is no answer from https://s3.example.org.'));
  await userEvent.click(dialog.getByRole('button', { name: 'Add store' }));
  await dialog.findByText('There is no answer from https://s3.example.org.');
  const body = sent.find(({ line }) => line === 'POST /api/v1/stores/')?.body;
  expect(body).toMatchObject({
    name: 'frankfurt',
    bucket: 'mirror',
    access_key_id: 'KEY',
    secret_access_key: 'SECRET',
    egress_per_gib: '0.09',
    write_per_gib: null,
    currency: 'EUR',
  });
});

test('who does not administer the installation is told so', async () => {
  await open([], false);
  await screen.findByText(/^Only administrators of the installation add and change stores\./);
  expect(screen.queryByRole('button', { name: 'Add store' })).toBeNull();
});
