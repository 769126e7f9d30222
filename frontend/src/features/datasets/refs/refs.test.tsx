import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { RefsPage } from '../index';
import { AT, branch, withDataset } from '../operations/pets';

withDataset();

const hold = { id: 'h', ref: 'v1', reason: 'Case 12', released_at: null };
const open = (search = '') => {
  serve('GET', `${AT}retention/`, { kind: 'last', limit: 3, due_count: 0, due: [] });
  serve(
    'GET',
    `${AT}holds/`,
    listing(hold, { ...hold, id: 'old', reason: 'Over', released_at: '2026-01-01T00:00:00Z' }),
  );
  return renderPage(<RefsPage />, `/datasets/pets/refs${search}`, '/datasets/$name/refs');
};

test('branches tell how far they are from main, tags who gave them, and the page what is kept', async () => {
  const { container } = await open();
  const branches = await screen.findByRole('table', { name: 'Branches' });
  expect(await within(branches).findAllByText('2 ahead · 1 behind')).not.toHaveLength(0);
  const compare = within(branches).getByRole('link', { name: 'Compare main with fix' });
  expect(compare.getAttribute('href')).toBe('/datasets/pets/diff?from=main&to=fix');
  within(screen.getByRole('table', { name: 'Tags' })).getByText('ann');
  await screen.findByText(/The last 3 versions of main are kept/);
  await screen.findByText('Case 12', { exact: false });
  expect(screen.queryByText('Over', { exact: false })).toBeNull();
  await expectNoViolations(container);
});

test('a branch begins at the tag beside which it was asked for', async () => {
  await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Begin a branch at release' }));
  const dialog = await screen.findByRole('dialog', { name: 'New branch' });
  const at: HTMLInputElement = within(dialog).getByRole('combobox', { name: 'Begins at' });
  expect(at.value).toBe('release');
});

test('names are searched on the server, and the search is in the address', async () => {
  const asked: string[] = [];
  serve('GET', `${AT}branches/`, (_: Request, url: URL) => {
    asked.push(url.searchParams.get('q') ?? '');
    return url.searchParams.get('q') ? listing() : listing(branch('main', 2));
  });
  await open('?q=zz');
  await screen.findAllByText(/Nothing matches/);
  const field: HTMLInputElement = screen.getByRole('searchbox', { name: 'Part of a name' });
  expect(field.value).toBe('zz');
  await userEvent.clear(field);
  await within(await screen.findByRole('table', { name: 'Branches' })).findByText('main');
  await eventually(() => expect(asked).toContain(''));
});

test('a failure is said', async () => {
  serve('GET', `${AT}tags/`, problem(500, 'server_error', 'Broken'));
  await open();
  await screen.findByRole('alert');
});
