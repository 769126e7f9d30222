import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { BrowsePage } from '../index';

const AT = 'projects/{project}/datasets/{dataset}/';
const version = { id: 'v2', ref: 'v2', number: 2, commit: '2'.repeat(64), message: '', file_count: 2, size_bytes: 10 };
const head = { ...version, layers: [], parents: [], created_at: '2026-01-01T00:00:00Z', author: null };
const view = (name: string, query: string) => ({ id: name, name, query, where: query, prefix: '', splits: [] });

let asked: URLSearchParams[] = [];

beforeEach(() => {
  asked = [];
  serve('DELETE', `${AT}views/big/`, null);
  serve('GET', AT, { id: 'd', name: 'pets', description: '', latest: head, versions_count: 2 });
  serve('GET', `${AT}versions/`, listing(head));
  serve('GET', `${AT}versions/v2/`, head);
  serve('GET', `${AT}versions/v2/entries/`, (_: Request, url: URL) => {
    asked.push(url.searchParams);
    const total = url.searchParams.get('view') === 'cats' ? 7 : 0;
    return { ...listing(), total, folders: [], total_is_exact: true };
  });
  serve('GET', `${AT}branches/`, listing());
  serve('GET', `${AT}tags/`, listing());
  serve('GET', `${AT}views/`, listing(view('cats', "label = 'cat'"), view('big', 'size > 1')));
});

const open = (search = '') => renderPage(<BrowsePage />, `/datasets/pets?layout=list${search}`, '/datasets/$name');
const openMenu = async () => {
  await userEvent.click(await screen.findByRole('button', { name: 'Views' }));
  return screen.findByRole('dialog', { name: 'Views' });
};

test('views are listed with their counts, and one is applied by a click', async () => {
  const { baseElement } = await open();
  const menu = await openMenu();
  await within(menu).findByText('7 files');
  within(menu).getByText('size > 1');
  await expectNoViolations(baseElement as HTMLElement);
  await userEvent.click(within(menu).getByRole('button', { name: 'Show the files of the view cats' }));
  await screen.findByRole('button', { name: 'View: cats' });
  await waitFor(() => expect(asked.some((one) => one.get('view') === 'cats' && one.get('limit') !== '1')).toBe(true));
  await userEvent.click(screen.getByRole('button', { name: 'Leave the view cats' }));
  await screen.findByRole('button', { name: 'Views' });
});

test('what the page asks is saved under a name', async () => {
  serve('POST', `${AT}views/`, view('mine', ''));
  const { baseElement } = await open('&view=cats&where=size > 1&path=a/');
  await userEvent.click(await screen.findByRole('button', { name: 'Save as view…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Save as view' });
  await expectNoViolations(baseElement as HTMLElement);
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Mine');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
  within(dialog).getByText(/Use lower-case letters/);
  await userEvent.clear(within(dialog).getByRole('textbox', { name: 'Name' }));
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'mine{Enter}');
  await waitFor(() =>
    expect(sent.find(({ line }) => line.startsWith('POST') && line.endsWith('views/'))?.body).toEqual({
      name: 'mine',
      where: "(label = 'cat') AND (size > 1)",
      prefix: 'a/',
    }),
  );
  await screen.findByRole('button', { name: 'View: mine' });
});

test('a view is renamed where it is applied, and goes at once when it is deleted', async () => {
  serve('PATCH', `${AT}views/cats/`, view('kittens', "label = 'cat'"));
  await open();
  let menu = await openMenu();
  await userEvent.click(await within(menu).findByRole('button', { name: 'Delete the view big' }));
  expect(within(menu).queryByText('size > 1')).toBeNull();
  expect(sent.some(({ line }) => line.startsWith('DELETE'))).toBe(false);
  // The time to undo is over when the page is left.
  window.dispatchEvent(new Event('pagehide'));
  await waitFor(() =>
    expect(sent.some(({ line }) => line.startsWith('DELETE') && line.endsWith('views/big/'))).toBe(true),
  );

  await userEvent.click(within(menu).getByRole('button', { name: 'Rename the view cats' }));
  menu = await screen.findByRole('dialog', { name: 'Rename cats' });
  await userEvent.clear(within(menu).getByRole('textbox', { name: 'Name' }));
  await userEvent.type(within(menu).getByRole('textbox', { name: 'Name' }), 'kittens{Enter}');
  await waitFor(() => expect(sent.find(({ line }) => line.startsWith('PATCH'))?.body).toEqual({ name: 'kittens' }));
});
