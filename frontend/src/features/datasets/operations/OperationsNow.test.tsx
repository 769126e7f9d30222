import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { AT, asked, openFiles, openVersions, pressMerge, preview, told, version, withDataset } from './pets';

withDataset();

test('what others do to the dataset is shown: how far it is, its version, why it failed and what next', async () => {
  const error = { code: 'merge_conflict', detail: 'Both sides changed a.txt.', action: 'Merge again.', head: null };
  const running = told('merge', { state: 'building', stage: 'reading', progress: 0.4, cancellable: true }, 'r');
  const rows = [
    told('split', { state: 'published', source: '', version: version(7) }, 'd'),
    told('edit', { state: 'published', source: 'pets@v1', unchanged: true }, 'u'),
    // Running operations come first.
    running,
    told('revert', { state: 'conflict', source: 'v1', error }, 'f'),
  ];
  serve('GET', `${AT}operations/`, () => listing(...rows));
  serve('POST', `${AT}commits/r/cancel/`, () => asked('cancelled', rows.splice(rows.indexOf(running), 1)[0]));
  const { container } = await openVersions();
  const merge = await screen.findByRole('group', { name: 'Merge of fix into main' });
  within(merge).getByText(/Bob/);
  await expectNoViolations(container);
  const split = screen.getByRole('group', { name: 'Split of main' });
  const link = within(split).getByRole('link', { name: 'main has a new version: v7' });
  expect(link.getAttribute('href')).toContain('ref=v7');
  within(screen.getByRole('group', { name: 'Copy from pets@v1 to main' })).getByText('Nothing was changed.');
  await userEvent.click(screen.getByRole('button', { name: 'Show 1 more' }));
  const failed = screen.getByRole('group', { name: 'Undo of v1 on main' });
  expect(failed.textContent).toContain('Both sides changed a.txt.Merge again.');
  await userEvent.click(within(merge).getByRole('button', { name: 'Cancel' }));
  await eventually(() => expect(screen.queryByRole('group', { name: 'Merge of fix into main' })).toBeNull());
  await userEvent.click(within(failed).getByRole('button', { name: 'Dismiss: Undo of v1 on main' }));
  expect(screen.queryByRole('group', { name: 'Undo of v1 on main' })).toBeNull();
  // The server keeps it, for every browser.
  expect(sent.findLast(({ line }) => line.startsWith('POST'))?.line).toMatch(/\/operations\/f\/dismiss\/$/);
});

test('a line that could not be dismissed comes back', async () => {
  serve('GET', `${AT}operations/`, listing(told('split', { state: 'published', version: version(7) }, 'd')));
  serve('POST', `${AT}operations/{id}/dismiss/`, () => problem(403, 'permission_denied', 'Not now.'));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Dismiss: Split of main' }));
  await screen.findByText('Not now.');
  screen.getByRole('group', { name: 'Split of main' });
});

test('all that is over is dismissed at once', async () => {
  const error = { code: 'merge_conflict', detail: 'Both sides changed a.txt.', action: 'Merge again.', head: null };
  const refused = ['a', 'b'].map((id) => told('revert', { state: 'conflict', source: 'v1', error }, id));
  serve('GET', `${AT}operations/`, listing(...refused, told('merge', { state: 'building' }, 'r')));
  serve('POST', `${AT}operations/dismiss/`, {});
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'Dismiss all that are over' }));
  await eventually(() => expect(screen.queryAllByRole('group', { name: 'Undo of v1 on main' })).toEqual([]));
  screen.getByRole('group', { name: 'Merge of fix into main' });
  expect(screen.queryByRole('button', { name: 'Dismiss all that are over' })).toBeNull();
  expect(sent.filter(({ line }) => line.includes('/dismiss/')).length).toBe(1);
});

test('how an operation ended is told once: by its dialog, or by the page once that is closed', async () => {
  const error = { code: 'merge_conflict', detail: 'Both sides changed a.txt.', action: 'Merge again.', head: null };
  let request = asked('building', { stage: 'reading', progress: 0.4, cancellable: true });
  let id = 'c';
  serve('POST', `${AT}merges/preview/`, preview());
  serve('POST', `${AT}merges/`, () => ({ ...request, id }));
  serve('GET', `${AT}commits/${id}/`, () => request);
  serve('GET', `${AT}operations/`, () => listing(told('merge', request, id)));
  request = asked('conflict', { error });
  await openVersions();
  const open = async () => {
    await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
    const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
    await pressMerge(dialog);
    return dialog;
  };
  const row = () => screen.queryByRole('group', { name: 'Merge of fix into main' });
  const dialog = await open();
  await within(dialog).findByText('Both sides changed a.txt.');
  expect(row()).toBeNull();
  await userEvent.keyboard('{Escape}');
  await eventually(() => expect(screen.queryByRole('dialog')).toBeNull());

  id = 'later';
  request = asked('building', { stage: 'reading', progress: 0.4, cancellable: true });
  serve('GET', `${AT}commits/later/`, () => ({ ...request, id }));
  await within(await open()).findByRole('progressbar');
  await userEvent.keyboard('{Escape}');
  await eventually(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(row()?.textContent).toContain('Reading');
  request = asked('published', { version: version(3) });
  await eventually(() => expect(row()?.textContent).toContain('main has a new version: v3'));
  expect(screen.queryByText('fix is merged into main: v3')).toBeNull();
});
