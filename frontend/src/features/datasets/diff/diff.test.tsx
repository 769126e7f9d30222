import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { writeStored } from '@/shared/ui/stored';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { annotations, STREET } from '../drawn/street';
import { DiffPage } from '../index';
import { AT, entry, withDataset } from '../operations/pets';

withDataset();
afterEach(() => writeStored('atom.drawn', null));

const COUNT = 130;
// The server of this test answers at most this many: a document of sixty cards is slow to search.
const SHOWN = 3;
const picture = (path: string) => ({
  ...entry(path),
  media_type: 'image/png',
  thumb_url: '/thumb',
  media_url: '/media',
});
const row = (number: number) => ({
  kind: 'changed',
  path: `cats/${number}.png`,
  old_path: null,
  old: { ...picture(`cats/${number}.png`), label: 'cat' },
  new: { ...picture(`cats/${number}.png`), label: 'dog' },
  objects: null,
});
const SUMMARY = { added: 0, removed: 0, changed: COUNT, renamed: 0, labels_changed: 0 };

/** Serves so many changes by number; returns what was asked. */
function serveDiff(count = COUNT) {
  const asked: URLSearchParams[] = [];
  serve('GET', `${AT}diff/`, (_: Request, url: URL) => {
    asked.push(url.searchParams);
    const [offset, limit] = [Number(url.searchParams.get('offset')), Number(url.searchParams.get('limit'))];
    const length = Math.max(0, Math.min(limit, SHOWN, count - offset));
    const numbers = Array.from({ length }, (_, index) => offset + index);
    return {
      summary: { ...SUMMARY, changed: count },
      objects: { added: 0, removed: 0, changed: 0 },
      label_changes: count > 0 ? [{ old: 'cat', new: null, count: 7 }] : [],
      total: count,
      results: numbers.map(row),
      next: null,
    };
  });
  return asked;
}

const open = (search = '?from=v1&to=v2') =>
  renderPage(<DiffPage />, `/datasets/pets/diff${search}`, '/datasets/$name/diff');

test('changes come a page at a time, and an address leads to any of them', async () => {
  const asked = serveDiff();
  const { container } = await open('?from=v1&to=v2&page=3');
  const cards = await screen.findAllByRole('button', { name: /^Look at cats/ });
  expect(cards).toHaveLength(SHOWN);
  expect(asked[0]?.get('offset')).toBe('120');
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Page 1' }));
  await eventually(() => expect(asked.at(-1)?.get('offset')).toBe('0'));
});

test('a change is opened, arrows go on, and Escape returns to its page', async () => {
  serveDiff();
  await open();
  const [first, second] = await screen.findAllByRole('button', { name: /^Look at cats/ });
  first?.focus();
  fireEvent.keyDown(first as HTMLElement, { key: 'ArrowRight' });
  expect(document.activeElement).toBe(second);
  await userEvent.keyboard('{Enter}');
  const dialog = await screen.findByRole('dialog', { name: 'Both sides of a change' });
  await within(dialog).findByText('2 of 130');
  const [before, after] = within(dialog).getAllByRole('img');
  fireEvent.keyDown(within(dialog).getByRole('group', { name: 'Before' }), { key: '+' });
  expect(before?.style.transform).toContain('scale(1.5)');
  expect(after?.style.transform).toBe(before?.style.transform);
  await expectNoViolations(dialog);
  // Enlarged, an arrow moves both; whole again, it goes to the next change.
  fireEvent.keyDown(within(dialog).getByRole('group', { name: 'Before' }), { key: 'ArrowRight' });
  within(dialog).getByText('2 of 130');
  fireEvent.keyDown(within(dialog).getByRole('group', { name: 'Before' }), { key: '0' });
  fireEvent.keyDown(within(dialog).getByRole('group', { name: 'Before' }), { key: 'ArrowRight' });
  await within(dialog).findByText('3 of 130');
  await within(dialog).findByText('cats/2.png');
  await userEvent.keyboard('{Escape}');
  await eventually(() => expect(screen.queryByRole('dialog')).toBeNull());
});

test('an address opens one change; past the last one it says so', async () => {
  serveDiff();
  const { unmount } = await open('?from=v1&to=v2&item=129');
  const dialog = await screen.findByRole('dialog', { name: 'Both sides of a change' });
  await within(dialog).findByText('130 of 130');
  expect(within(dialog).getByRole('button', { name: 'Next change' }).getAttribute('aria-disabled')).toBe('true');
  unmount();
  await open('?from=v1&to=v2&item=900');
  await screen.findByText('There is no such change any more');
});

test('changes are narrowed by kind, folder and a label that became another', async () => {
  const asked = serveDiff();
  await open();
  await userEvent.click(await screen.findByRole('combobox', { name: 'Label change' }));
  await userEvent.click(await screen.findByRole('option', { name: 'cat → no label (7)' }));
  await eventually(() => expect([asked.at(-1)?.get('old_label'), asked.at(-1)?.get('new_label')]).toEqual(['cat', '']));
  await userEvent.type(screen.getByRole('textbox', { name: 'Folder' }), 'cats/');
  await eventually(() => expect(asked.at(-1)?.get('prefix')).toBe('cats/'));
  await userEvent.click(screen.getByRole('radio', { name: /Changed 130/ }));
  await eventually(() => expect(asked.at(-1)?.get('kind')).toBe('changed'));
  await userEvent.click(screen.getByRole('button', { name: 'Show all' }));
  await eventually(() => expect(asked.at(-1)?.toString()).not.toMatch(/kind|prefix|label/));
});

test('equal versions and a failure are said', async () => {
  serveDiff(0);
  const { unmount } = await open();
  await screen.findByText('These versions have the same files and labels.');
  unmount();
  serve('GET', `${AT}diff/`, problem(500, 'server_error', 'Broken'));
  await open();
  await screen.findByRole('alert');
});

test('objects that changed are counted, and both sides are drawn with what differs standing out', async () => {
  const moved = { ...STREET[1], box: [110, 20, 30, 40], bounds: [110, 20, 30, 40] };
  const relabelled = {
    kind: 'labels_changed',
    path: 'street.png',
    old_path: null,
    old: { ...picture('street.png'), annotations: annotations(STREET) },
    new: { ...picture('street.png'), annotations: annotations([...STREET.slice(0, 1), moved]) },
    objects: {
      ...{ added: 0, removed: 1, changed: 1 },
      changes: [
        { id: '02', change: 'changed', fields: ['geometry'] },
        { id: '03', change: 'removed', fields: [] },
      ],
    },
  };
  serve('GET', `${AT}diff/`, {
    summary: { ...SUMMARY, changed: 0, labels_changed: 1 },
    objects: { added: 4, removed: 1500, changed: 1 },
    label_changes: [],
    total: 1,
    results: [relabelled],
    next: null,
  });
  const { container } = await open();
  const filters = within(await screen.findByRole('group', { name: 'Filters of the changes' }));
  filters.getByText(/1,500 removed/);
  const card = await screen.findByRole('listitem');
  within(card).getByText(/1 removed/);
  expect(card.querySelectorAll('[data-object]')).toHaveLength(5);
  expect(
    [...card.querySelectorAll('[data-object][data-active]')].map((shape) => shape.getAttribute('data-object')),
  ).toEqual(['02', '03', '02']);
  await expectNoViolations(container);
  await userEvent.click(within(card).getByRole('button'));
  const dialog = await screen.findByRole('dialog', { name: 'Both sides of a change' });
  await eventually(() => expect(dialog.querySelectorAll('[data-object]')).toHaveLength(5));
  await userEvent.keyboard('o');
  expect(dialog.querySelectorAll('[data-object]')).toHaveLength(0);
  await expectNoViolations(dialog);
});
