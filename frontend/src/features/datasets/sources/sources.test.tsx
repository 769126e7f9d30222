import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { SourcesPage } from '../index';

const scan = {
  id: '01900000-0000-7000-8000-000000000009',
  state: 'done',
  objects_count: 1200,
  size_bytes: 4096,
  skipped: 2,
  objects_per_s: 50,
  unchanged: false,
  version: 'v3',
};
const source = {
  id: 's',
  name: 'photos',
  kind: 's3',
  url: 's3://bucket/pets',
  dataset: 'pets',
  branch: 'main',
  state: 'ready',
  every_s: 86_400,
  next_scan_at: null,
  error_detail: '',
  error_action: null,
  last_scan: scan,
};
const AT = 'projects/{project}/sources/';
const open = () => renderPage(<SourcesPage />, '/sources', '/sources');

test('a source shows what its last scan made and leads to the dataset', async () => {
  serve('GET', AT, listing(source));
  const { container } = await open();
  await screen.findByText(/^v3, .+ 2 names that no dataset can have were left out\.$/);
  expect(screen.getByRole('link', { name: 'pets@main' }).getAttribute('href')).toContain('/datasets/pets');
  await expectNoViolations(container);
});

test('drift is shown with what to do', async () => {
  const drifted = {
    ...source,
    state: 'drifted',
    error_detail: "The source changed: 'a.png'.",
    error_action: 'Scan it.',
  };
  serve('GET', AT, listing(drifted));
  await open();
  await screen.findByText("The source changed: 'a.png'. Scan it.");
  screen.getByText('Changed at the source');
  serve('POST', `${AT}photos/scans/`, scan);
  await userEvent.click(screen.getByRole('button', { name: 'Scan photos' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/photos/scans/'))).toBe(true));
});

test('a running scan shows how far it is and can be cancelled', async () => {
  serve('GET', AT, listing({ ...source, state: 'scanning', last_scan: { ...scan, state: 'listing', skipped: 0 } }));
  await open();
  await screen.findByText(/^1,200 objects, .+ so far · 50 a second$/);
  await userEvent.click(screen.getByRole('button', { name: 'Cancel the scan of photos' }));
  await waitFor(() => expect(sent.some(({ line }) => line.startsWith('DELETE') && line.includes(scan.id))).toBe(true));
});

test('each kind of place asks for its own credentials, and sends no other', async () => {
  serve('GET', AT, listing());
  serve('POST', 'projects/{project}/source-tests/', { keys: ['a.png'], has_more: false });
  await open();
  await screen.findByText('No sources yet');
  fireEvent.click(screen.getAllByRole('button', { name: 'Add a source' })[0] as HTMLElement);
  const dialog = within(await screen.findByRole('dialog'));
  const fill = (label: string, value: string) => fireEvent.change(dialog.getByLabelText(label), { target: { value } });
  fill('Access key id', 'of-s3');
  for (const [url, label] of [
    ['gs://b', 'JSON key of the service account'],
    ['webhdfs://h:9870/d', 'Delegation token (with Kerberos)'],
    ['az://acct/data', 'SAS token instead of the key'],
  ] as const) {
    fill('Address', url);
    dialog.getByLabelText(label);
  }
  fill('SAS token instead of the key', 'sig=x');
  fireEvent.click(dialog.getByText('Test the connection'));
  await dialog.findByText('It works. There is: a.png');
  const body = sent.find(({ line }) => line.endsWith('/source-tests/'))?.body;
  expect(body).toEqual({ url: 'az://acct/data', endpoint: '', region: '', sas_token: 'sig=x' });
});

test('a connection is tried first, then the source is added and scanned', async () => {
  serve('GET', AT, listing());
  serve(
    'POST',
    'projects/{project}/source-tests/',
    problem(502, 'source_denied', 'The source refuses these credentials.'),
  );
  await open();
  await screen.findByText('No sources yet');
  await userEvent.click(screen.getAllByRole('button', { name: 'Add a source' })[0] as HTMLElement);
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.type(dialog.getByRole('textbox', { name: 'Name' }), 'photos');
  await userEvent.type(dialog.getByRole('textbox', { name: 'Address' }), 'bucket/pet');
  await userEvent.type(dialog.getByRole('textbox', { name: 'Dataset' }), 'pets');
  await userEvent.type(dialog.getByRole('textbox', { name: 'Only paths like' }), '*.jpg *.png');
  await userEvent.click(dialog.getByRole('button', { name: 'Test the connection' }));
  await dialog.findByText('The source refuses these credentials.');
  // That was said of another place.
  await userEvent.type(dialog.getByRole('textbox', { name: 'Address' }), 's');
  expect(dialog.queryByText('The source refuses these credentials.')).toBeNull();
  serve('POST', AT, source);
  serve('POST', `${AT}photos/scans/`, scan);
  await userEvent.click(dialog.getByRole('button', { name: 'Add and scan' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/photos/scans/'))).toBe(true));
  const body = sent.find(({ line }) => line === 'POST /api/v1/projects/vision/sources/')?.body;
  expect(body).toMatchObject({ url: 's3://bucket/pets', include: ['*.jpg', '*.png'], labels_from: 'folder' });
});
