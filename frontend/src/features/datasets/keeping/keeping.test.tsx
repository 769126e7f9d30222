import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { DeletedPage } from '../list/DeletedPage';
import { KeepingPage } from './KeepingPage';

const AT = 'projects/{project}/datasets/{dataset}/';
const retention = (extra: object) => ({ kind: 'all', limit: null, due_count: 0, due: [], ...extra });
const hold = {
  id: '0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
  ref: 'v2',
  reason: 'a dispute',
  placed_by: { username: 'bo', full_name: 'Bo' },
  created_at: '2026-01-01T00:00:00Z',
  released_by: null,
  released_at: null,
};
const open = () => renderPage(<KeepingPage />, '/datasets/pets/keeping', '/datasets/$name/keeping');
const bodies = (method: string) => sent.filter(({ line }) => line.startsWith(method)).map(({ body }) => body);

beforeEach(() => serve('GET', AT, { name: 'pets', description: 'Cats and dogs' }));

test('a dataset that is not there is said once, with the way back and nothing to press', async () => {
  serve('GET', AT, () => problem(404, 'not_found', 'There is nothing here.'));
  for (const path of ['retention/', 'holds/'])
    serve('GET', `${AT}${path}`, () => problem(404, 'not_found', 'There is nothing here.'));
  await open();
  await screen.findByRole('alert');
  screen.getByRole('heading', { name: 'pets' });
  expect(screen.getAllByRole('alert')).toHaveLength(1);
  expect(screen.getByRole('link', { name: 'Datasets' }).getAttribute('href')).toBe('/datasets');
  expect(screen.queryByRole('button', { name: 'Delete dataset' })).toBeNull();
});

test('a policy is set, and what it lets go is said before it happens', async () => {
  serve('GET', `${AT}retention/`, retention({ kind: 'last', limit: 2, due_count: 2, due: ['v1', 'v2'] }));
  serve('GET', `${AT}holds/`, listing());
  serve('PUT', `${AT}retention/`, retention({ kind: 'last', limit: 5 }));
  const { container } = await open();
  await screen.findByText('2 versions expire in the next night: v1, v2');
  const limit = screen.getByRole('textbox', { name: 'How many versions' });
  await userEvent.clear(limit);
  await userEvent.type(limit, '5');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(bodies('PUT')).toEqual([{ kind: 'last', limit: 5 }]));
  await expectNoViolations(container);
});

test('a hold is placed with a reason and released', async () => {
  serve('GET', `${AT}retention/`, retention({}));
  serve('GET', `${AT}holds/`, listing(hold));
  serve('POST', `${AT}holds/`, hold);
  serve('POST', `${AT}holds/{hold_id}/release/`, hold);
  const { container } = await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Release the hold on v2' }));
  await waitFor(() => expect(bodies('POST')).toHaveLength(1));
  await userEvent.click(screen.getByRole('button', { name: 'Place a hold' }));
  const dialog = await screen.findByRole('dialog');
  const submit = [...dialog.querySelectorAll('button')].find((button) => button.type === 'submit') as HTMLElement;
  await userEvent.click(submit);
  await screen.findByText('Say why it must be kept.');
  await userEvent.type(screen.getByRole('textbox', { name: 'Reason' }), 'evidence');
  await userEvent.click(submit);
  await waitFor(() => expect(bodies('POST').at(-1)).toEqual({ reason: 'evidence', ref: null }));
  await expectNoViolations(container);
});

test('a dataset is deleted once its name is typed, and the way to move it is told', async () => {
  serve('GET', `${AT}retention/`, retention({}));
  serve('GET', `${AT}holds/`, listing());
  const named: (string | null)[] = [];
  serve('DELETE', AT, (_: Request, url: URL) => {
    named.push(url.searchParams.get('name'));
    return new Response(null, { status: 204 });
  });
  const { container } = await open();
  await screen.findByText('atom data archive save pets ./archive');
  await screen.findByText('atom data archive save pets ./archive --with-sources');
  await userEvent.click(await screen.findByRole('button', { name: 'Delete dataset' }));
  const dialog = await screen.findByRole('dialog');
  const confirm = [...dialog.querySelectorAll('button')].find(({ textContent }) => textContent === 'Delete dataset');
  expect(confirm).toHaveProperty('disabled', true);
  await userEvent.type(dialog.querySelector('input') as HTMLElement, 'pets');
  await expectNoViolations(container);
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(named).toEqual(['pets']));
});

test('a deleted dataset is listed with the way back', async () => {
  const row = {
    id: '0198aaaa-bbbb-7ccc-8ddd-eeeeffff0001',
    name: 'pets',
    description: '',
    versions_count: 3,
    deleted_at: '2026-01-01T00:00:00Z',
    deleted_by: { username: 'bo', full_name: 'Bo' },
    restorable_until: '2026-01-31T00:00:00Z',
  };
  serve('GET', 'projects/{project}/deleted-datasets/', listing(row));
  serve('POST', 'projects/{project}/deleted-datasets/{dataset_id}/restore/', {});
  const { container } = await renderPage(<DeletedPage />, '/deleted-datasets', '/deleted-datasets');
  await userEvent.click(await screen.findByRole('button', { name: 'Restore pets' }));
  await waitFor(() => expect(bodies('POST')).toHaveLength(1));
  await expectNoViolations(container);
});

test('who does not administer the project reads and changes nothing', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  serve('GET', `${AT}retention/`, retention({}));
  serve('GET', `${AT}holds/`, listing());
  await open();
  await screen.findByText('Only administrators of the project can change this.');
  expect(screen.queryByRole('button', { name: 'Save' })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Place a hold' })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Delete dataset' })).toBeNull();
});

test('a failure is told in words', async () => {
  serve('GET', `${AT}retention/`, () => problem(409, 'busy', 'The dataset is busy.'));
  serve('GET', `${AT}holds/`, listing());
  await open();
  await screen.findByText('The dataset is busy.');
});

test('the sources and the writers of the dataset are among its settings', async () => {
  const source = (name: string, dataset: string) => ({
    id: name,
    name,
    kind: 's3',
    url: `s3://bucket/${name}`,
    dataset,
    branch: 'main',
    state: 'ready',
    every_s: 0,
    next_scan_at: null,
    error_detail: '',
    error_action: null,
    last_scan: null,
  });
  serve('GET', `${AT}retention/`, retention({}));
  serve('GET', `${AT}holds/`, listing());
  serve('GET', `${AT}writers/`, listing());
  serve('GET', `${AT}write-jobs/`, listing());
  serve('GET', 'projects/{project}/sources/', (_: Request, url: URL) =>
    url.searchParams.get('cursor')
      ? listing(source('late', 'pets'))
      : { ...listing(source('photos', 'pets'), source('other', 'digits')), next: 'more' },
  );
  const { container } = await open();
  const table = await screen.findByRole('table', { name: 'Sources' });
  await within(table).findByText('late');
  within(table).getByText('photos');
  expect(within(table).queryByText('other')).toBeNull();
  await screen.findByText('No program is writing now');
  await userEvent.click(screen.getByRole('button', { name: 'Add a source' }));
  const dialog = await screen.findByRole('dialog', { name: 'Add a source' });
  expect(within(dialog).getByRole('textbox', { name: 'Dataset' })).toHaveProperty('value', 'pets');
  await expectNoViolations(container);
});

test('the description is changed by those who write, and read by others', async () => {
  serve('GET', `${AT}retention/`, retention({}));
  serve('GET', `${AT}holds/`, listing());
  serve('PATCH', AT, { name: 'pets', description: 'Cats only' });
  const { container, unmount } = await open();
  const field = await screen.findByRole('textbox', { name: 'Description' });
  expect(field).toHaveProperty('value', 'Cats and dogs');
  await userEvent.clear(field);
  await userEvent.type(field, 'Cats only');
  await userEvent.click(await screen.findByRole('button', { name: 'Save the description' }));
  await waitFor(() => expect(bodies('PATCH')).toEqual([{ description: 'Cats only' }]));
  await expectNoViolations(container);
  unmount();
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await open();
  expect(await screen.findByRole('textbox', { name: 'Description' })).toHaveProperty('readOnly', true);
  expect(screen.queryByRole('button', { name: 'Save the description' })).toBeNull();
});
