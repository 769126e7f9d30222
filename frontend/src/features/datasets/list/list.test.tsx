import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { DatasetsPage } from '../index';

const dataset = (name: string) => ({
  id: name,
  name,
  description: '',
  latest: null,
  versions_count: 0,
  is_loading: false,
  updated_at: '2026-01-01T00:00:00Z',
});
const NAMES = ['cats', 'dogs', 'old-cats'];
const open = (search = '') => renderPage(<DatasetsPage />, `/datasets${search}`, '/datasets');

/** As the server: the first page holds one dataset. */
function serveNames() {
  serve('GET', 'projects/{project}/datasets/', (_: Request, url: URL) => {
    const q = url.searchParams.get('q') ?? '';
    const [first, ...more] = NAMES.filter((name) => name.includes(q)).map(dataset);
    return { results: first ? [first] : [], next: more.length ? 'more' : null };
  });
}

test('a search finds what is not on the first page', async () => {
  serveNames();
  const { container } = await open();
  await screen.findByRole('link', { name: 'cats' });
  await userEvent.type(screen.getByRole('textbox', { name: 'Find by name' }), 'old');
  await screen.findByRole('link', { name: 'old-cats' });
  expect(screen.queryByRole('link', { name: 'cats' })).toBeNull();
  await expectNoViolations(container);
});

test('a search that finds nothing says so', async () => {
  serve('GET', 'projects/{project}/datasets/', listing());
  await open('?q=birds');
  await screen.findByText('No dataset is called “birds”.');
});

test('letters typed in the middle of a search stay where they are', async () => {
  serveNames();
  await open('?q=cs');
  const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Find by name' });
  await userEvent.type(field, 'a', { initialSelectionStart: 1, initialSelectionEnd: 1 });
  await userEvent.keyboard('t');
  expect(field.value).toBe('cats');
  await screen.findByRole('link', { name: 'cats' });
  expect(field.selectionStart).toBe(3);
});
