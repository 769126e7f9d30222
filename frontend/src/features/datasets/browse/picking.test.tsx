import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, sent, serve } from '@/test/fakeApi';
import { AT, asked, bodyOf, entry, openFiles, preview, version, withDataset } from '../operations/pets';
import { kindsOf } from './FactFilters';

withDataset();

const queries: string[] = [];
const open = async (search: string) => {
  queries.length = 0;
  serve('GET', `${AT}versions/v2/entries/`, (_: Request, url: URL) => {
    queries.push(url.search);
    const found = listing(entry('a.png'), entry('b.png'), entry('c.png'));
    return { ...found, folders: [], total: 3, total_is_exact: true, counted_before: null };
  });
  const page = await openFiles(search);
  await screen.findByRole('gridcell', { name: /a\.png/ });
  return page;
};

test('kinds and sizes of files are asked of the server, and can be taken back', async () => {
  await open('type=image%2F&min=1024&max=2048');
  expect(queries.at(-1)).toContain('type=image%2F&min_size=1024&max_size=2048');
  await userEvent.click(screen.getByRole('button', { name: 'Clear the filters' }));
  await eventually(() => expect(queries.at(-1)).not.toContain('min_size'));
});

test('links are told from files in the grid, in pictures and in words', async () => {
  const linkTo = (target: string, kind: string, more: object = {}) => ({
    ...{ media_type: 'inode/symlink', media_url: '', thumb_url: null, label: null, split: null },
    link: { target, leads_to: target, leaves: kind === 'outside', kind },
    ...more,
  });
  serve('GET', `${AT}versions/v2/entries/`, () => ({
    ...listing(
      entry('a.png'),
      entry('b.png', linkTo('a.png', 'file', { thumb_url: '/media/a' })),
      entry('c.txt', linkTo('gone', 'nothing')),
      entry('d', linkTo('/etc', 'outside')),
      entry('e', linkTo('pets', 'folder')),
      entry('f', linkTo('f', 'circle')),
    ),
    ...{ folders: [], total: 6, total_is_exact: true, counted_before: null },
  }));
  const { container } = await openFiles('');
  const picture = await screen.findByRole('gridcell', { name: /Link to a\.png.*b\.png/ });
  expect(picture.querySelector('img')).not.toBeNull();
  for (const name of [
    /Broken link to gone.*c\.txt/,
    /Link out of the version to \/etc.*d/,
    /Link to the folder pets.*e/,
    /Link in a circle to f.*f/,
  ]) {
    const cell = screen.getByRole('gridcell', { name });
    expect(cell.querySelector('img')).toBeNull();
  }
  expect(screen.getByText('gone')).toBeTruthy();
  expect(screen.getByRole('gridcell', { name: /^(?!.*[Ll]ink).*a\.png/ })).toBeTruthy();
  await expectNoViolations(container);
});

test('files are chosen in the grid by mouse and keyboard, and marked as all that match', async () => {
  serve('POST', `${AT}edits/preview/`, preview({}));
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  const { container } = await open('type=image%2F');
  const cell = (name: RegExp) => screen.getByRole('gridcell', { name });
  fireEvent.click(cell(/a\.png/), { ctrlKey: true });
  fireEvent.click(cell(/c\.png/), { shiftKey: true });
  await screen.findByRole('toolbar', { name: '3 files selected' });
  expect(cell(/b\.png/).getAttribute('aria-selected')).toBe('true');
  await userEvent.click(screen.getByRole('checkbox', { name: 'Select b.png' }));
  await screen.findByRole('toolbar', { name: '2 files selected' });
  await expectNoViolations(container);
  fireEvent.keyDown(cell(/a\.png/), { key: 'a', ctrlKey: true });
  const bar = await screen.findByRole('toolbar', { name: '3 files: all that match' });
  await userEvent.click(within(bar).getByRole('button', { name: 'Set split…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Set a split on main' });
  await userEvent.click(within(dialog).getByRole('radio', { name: 'test' }));
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Set it' }));
  await screen.findByText('3 files get test (Split)');
  window.dispatchEvent(new Event('pagehide'));
  await eventually(() =>
    expect(bodyOf('edits/')).toMatchObject({
      edits: [{ op: 'split', where: "media_type LIKE 'image/%'", value: 'test' }],
    }),
  );
  await screen.findByText('main has a new version: v3');
});

test('a family of media types stands before its types', () => {
  expect(kindsOf({ 'text/plain': 1, 'image/png': 5, 'image/jpeg': 9 })).toEqual([
    { value: 'image/', count: 14 },
    { value: 'image/jpeg', count: 9 },
    { value: 'image/png', count: 5 },
    { value: 'text/plain', count: 1 },
  ]);
});

test('all that match become a label task by their question, and its page is shown', async () => {
  const said = { items: 2, left_out: { not_images: 1, unreadable: 0 } };
  serve('GET', 'projects/{project}/labelx/task-preview/', said);
  serve('GET', `${AT}versions/v2/stats/`, {
    labels: { cat: 2 },
    splits: {},
    media_types: {},
    unlabelled: 1,
    unreadable: 0,
    unsplit: 0,
  });
  serve('POST', 'projects/{project}/labelx/tasks/', { id: 't9' });
  await open('type=image%2F');
  fireEvent.keyDown(screen.getByRole('gridcell', { name: /a\.png/ }), { key: 'a', ctrlKey: true });
  const bar = await screen.findByRole('toolbar', { name: '3 files: all that match' });
  await userEvent.click(within(bar).getByRole('button', { name: 'Label these…' }));
  const dialog = await screen.findByRole('dialog');
  await within(dialog).findByText(/2 of them are images.*1 is left out/);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Make the task' }));
  await eventually(() =>
    expect(bodyOf('labelx/tasks/')).toMatchObject({
      dataset: 'pets@v2',
      labels: [{ name: 'cat' }],
      filter: { labelled: null, prefix: '', where: "media_type LIKE 'image/%'" },
    }),
  );
});

test('a branch that moves on while it is looked at is shown whole as it is now, and nothing of it is chosen', async () => {
  let head = version(1);
  const at = (number: number, ...names: string[]) =>
    serve('GET', `${AT}versions/v${number}/entries/`, (_: Request, url: URL) => ({
      ...listing(...(url.searchParams.has('delimiter') ? [] : names.map((path) => entry(path)))),
      folders: url.searchParams.has('delimiter') ? [{ name: `of-v${number}`, prefix: `of-v${number}/` }] : [],
      total: names.length,
      total_is_exact: true,
      counted_before: null,
    }));
  at(1, 'a.png', 'b.png');
  at(2, '0.png', 'a.png', 'b.png');
  serve('GET', `${AT}versions/fix/`, () => head);
  await openFiles('ref=fix');
  await screen.findByRole('treeitem', { name: 'of-v1' });
  fireEvent.click(await screen.findByRole('gridcell', { name: /a\.png/ }), { ctrlKey: true });
  await screen.findByRole('toolbar', { name: '1 file selected' });
  head = version(2);
  // Somebody comes back to the tab.
  window.dispatchEvent(new Event('visibilitychange'));
  await screen.findByRole('treeitem', { name: 'of-v2' });
  await screen.findByRole('gridcell', { name: /0\.png/ });
  expect(screen.queryByRole('treeitem', { name: 'of-v1' })).toBeNull();
  expect(screen.queryByRole('toolbar', { name: '1 file selected' })).toBeNull();
  expect(sent.some(({ line }) => line.endsWith('/versions/fix/entries/'))).toBe(false);
});
