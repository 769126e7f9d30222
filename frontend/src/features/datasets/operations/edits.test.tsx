import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { BrowsePage } from '../index';
import { AT, asked, bodyOf, branch, conflict, openFiles, preview, told, version, withDataset } from './pets';

withDataset();

test('a removal that is too late to cancel says so, and is done', async () => {
  let state = asked('building', { stage: 'writing', rows_done: 1, rows_total: 2, progress: 0.8, cancellable: true });
  serve('POST', `${AT}edits/`, () => state);
  serve('GET', `${AT}commits/c/`, () => state);
  serve('GET', `${AT}operations/`, () => listing(...(state.state === 'building' ? [told('edit', state)] : [])));
  serve('POST', `${AT}commits/c/cancel/`, () => {
    state = asked('published', { version: version(3) });
    return problem(409, 'commit_over', 'It is too late to cancel.');
  });
  await openFiles();
  await userEvent.click(await screen.findByRole('checkbox', { name: /a\.txt/ }));
  const bar = await screen.findByRole('toolbar', { name: '1 file selected' });
  await userEvent.click(within(bar).getByRole('button', { name: 'Remove' }));
  // Leaving the page is the end of the time to undo.
  window.dispatchEvent(new Event('pagehide'));
  const row = await screen.findByRole('group', { name: 'Edit of main' });
  within(row).getByRole('progressbar', { name: 'Writing: 1 of 2' });
  await userEvent.click(within(row).getByRole('button', { name: 'Cancel' }));
  await screen.findByText('It is too late to cancel.');
  await screen.findByText('main has a new version: v3');
});

test('selected files are moved on the branch that they were seen on', async () => {
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  const { container } = await openFiles();
  await userEvent.click(await screen.findByRole('checkbox', { name: /a\.txt/ }));
  const bar = await screen.findByRole('toolbar', { name: '1 file selected' });
  await expectNoViolations(container);
  await userEvent.click(within(bar).getByRole('button', { name: 'Move…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Move files' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Move' }));
  within(dialog).getByText('Write the name of a folder.');
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'To the folder' }), 'kept/');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Move' }));
  await eventually(() =>
    expect(bodyOf('edits/')).toEqual({
      branch: 'main',
      expected_head: '2'.repeat(64),
      edits: [{ op: 'move', paths: ['a.txt'], to: 'kept/' }],
      message: '',
    }),
  );
});

async function moveOneOn(ref: string, ended: object) {
  serve('GET', `${AT}versions/fix/`, version(2));
  serve('GET', `${AT}branches/`, listing(branch('fix', 2), branch('main', 2)));
  serve('POST', `${AT}edits/`, asked('published', ended));
  await openFiles(`layout=list&ref=${ref}`);
  await userEvent.click(await screen.findByRole('checkbox', { name: /a\.txt/ }));
  const bar = await screen.findByRole('toolbar', { name: '1 file selected' });
  await userEvent.click(within(bar).getByRole('button', { name: 'Move…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Move files' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'To the folder' }), 'kept/');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Move' }));
}

test('after an edit of a branch the page shows that branch, so that the next edit goes there too', async () => {
  await moveOneOn('fix', { version: version(3, { ref: '333333333333', number: null }) });
  await screen.findByText('fix has a new version: 333333333333');
  expect((bodyOf('edits/') as { branch: string }).branch).toBe('fix');
  await eventually(() => expect(screen.getByRole<HTMLInputElement>('combobox', { name: 'Version' }).value).toBe('fix'));
});

test('an edit that changes nothing says so and leaves the page on its branch', async () => {
  await moveOneOn('fix', { unchanged: true, version: version(2) });
  await screen.findByText('Nothing was changed.');
  expect(screen.queryByText(/has a new version/)).toBeNull();
  expect(screen.getByRole<HTMLInputElement>('combobox', { name: 'Version' }).value).toBe('fix');
});

const choose = async (name: string) => {
  await openFiles();
  await userEvent.click(await screen.findByRole('checkbox', { name: /a\.txt/ }));
  const bar = await screen.findByRole('toolbar', { name: '1 file selected' });
  await userEvent.click(within(bar).getByRole('button', { name }));
};

const type = async (dialog: HTMLElement, name: string, text: string) =>
  await userEvent.type(within(dialog).getByRole('textbox', { name }), text);

test('selected files are taken to a branch once a side is chosen', async () => {
  serve('POST', `${AT}picks/preview/`, preview({ conflicts_total: 1, conflicts: [conflict('a.txt')] }));
  serve('POST', `${AT}picks/`, asked('published', { version: version(3) }));
  await choose('Take paths to a branch…');
  const dialog = await screen.findByRole('dialog', { name: 'Take paths from v2' });
  await within(dialog).findByText('new.txt');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'the other side (v2)' }));
  await userEvent.click(within(dialog).getByRole('button', { name: 'Take them' }));
  await eventually(() =>
    expect(bodyOf('picks/')).toEqual({
      source: 'v2',
      branch: 'main',
      paths: ['a.txt'],
      changes_only: false,
      on_conflict: 'theirs',
      message: '',
    }),
  );
});

test('selected files are copied into a folder, after a look at what that makes', async () => {
  serve('POST', `${AT}edits/preview/`, preview());
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  await choose('Copy…');
  const dialog = await screen.findByRole('dialog', { name: 'Copy files of v2' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  within(dialog).getByText('Write the name of a folder.');
  expect(bodyOf('edits/preview/')).toBeUndefined();
  await type(dialog, 'To the folder', 'old/');
  await within(dialog).findByText('new.txt');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  const edits = [{ op: 'copy', paths: ['a.txt'], to: 'old/', source: 'v2' }];
  await eventually(() => expect(bodyOf('edits/')).toEqual({ branch: 'main', expected_head: null, edits, message: '' }));
});

test('attributes are set for what the page shows', async () => {
  serve('POST', `${AT}edits/preview/`, preview());
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  await renderPage(<BrowsePage />, '/datasets/pets?layout=list&path=cats/&where=size > 1&view=big', '/datasets/$name');
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Set attributes…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Set attributes on main' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Set them' }));
  within(dialog).getByText('Name an attribute.');
  await type(dialog, 'Attribute 1', 'camera');
  await type(dialog, 'Value 1', 'north');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Another attribute' }));
  await type(dialog, 'Attribute 2', 'iso');
  await within(dialog).findByText('new.txt');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Set them' }));
  const attributes = { camera: 'north', iso: null };
  await eventually(() =>
    expect(bodyOf('edits/')).toMatchObject({
      branch: 'main',
      expected_head: '2'.repeat(64),
      edits: [{ op: 'set', paths: ['cats/'], where: 'size > 1', view: 'big', attributes }],
    }),
  );
});

test('files of another dataset are copied by a query, once it is said from where and into which folder', async () => {
  serve('GET', 'projects/{project}/datasets/', listing({ id: 'd', name: 'pets' }, { id: 'e', name: 'birds' }));
  serve('POST', `${AT}edits/preview/`, preview({ added: 120 }));
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Copy from another dataset…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Copy files to pets' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  within(dialog).getByText('Choose a dataset.');
  within(dialog).getByText('Write the name of a folder.');
  await userEvent.click(within(dialog).getByRole('combobox', { name: 'From the dataset' }));
  // A dataset is not copied into itself here.
  expect(screen.getAllByRole('option').map((option) => option.textContent)).toEqual(['birds']);
  await userEvent.click(screen.getByRole('option', { name: 'birds' }));
  within(dialog).getByRole('combobox', { name: 'Version' });
  await type(dialog, 'Query', 'size > 1');
  await type(dialog, 'To the folder', 'in');
  await within(dialog).findByText('+120');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Copy' }));
  const edits = [{ op: 'copy', paths: [], where: 'size > 1', to: 'in/', source: 'birds@main' }];
  await eventually(() => expect(bodyOf('edits/')).toEqual({ branch: 'main', expected_head: null, edits, message: '' }));
});

test('datasets to copy from are searched on the server as one types', async () => {
  const names = Array.from({ length: 120 }, (_, number) => `birds-${number}`);
  serve('GET', 'projects/{project}/datasets/', (_request: Request, url: URL) => {
    const fitting = ['pets', ...names].filter((name) => name.includes(url.searchParams.get('q') ?? ''));
    return listing(...fitting.slice(0, Number(url.searchParams.get('limit'))).map((name) => ({ id: name, name })));
  });
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Copy from another dataset…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Copy files to pets' });
  const input = within(dialog).getByRole('combobox', { name: 'From the dataset' });
  await userEvent.click(input);
  await screen.findByRole('option', { name: 'birds-0' });
  expect(screen.queryByRole('option', { name: 'birds-117' })).toBeNull();
  await userEvent.type(input, 'birds-117');
  await userEvent.click(await screen.findByRole('option', { name: 'birds-117' }));
  // The choice stays, and all datasets are offered again.
  expect((input as HTMLInputElement).value).toBe('birds-117');
  await userEvent.click(input);
  await screen.findByRole('option', { name: 'birds-0' });
  screen.getByRole('option', { name: 'birds-117' });
});

test('who may only look is offered nothing that changes the dataset', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await screen.findByRole('menuitem', { name: 'Compare' });
  expect(screen.queryByRole('menuitem', { name: 'Copy from another dataset…' })).toBeNull();
});

test('objects of an earlier import are moved to their layer by one button', async () => {
  const none = { unreadable: 0, unreadable_paths: [], unsplit: 0, unsplit_paths: [] };
  const stats = { labels: {}, splits: {}, media_types: {}, unlabelled: 0, described: 2, ...none };
  serve('GET', `${AT}versions/v2/stats/`, stats);
  serve('POST', `${AT}edits/`, asked('published', { version: version(3) }));
  await openFiles();
  const notice = (await screen.findByText('2 pictures have objects of an earlier import in their attributes.')).closest(
    '[role=alert]',
  ) as HTMLElement;
  await expectNoViolations(notice);
  await userEvent.click(within(notice).getByRole('button', { name: 'Move the objects to their layer' }));
  await eventually(() =>
    expect(bodyOf('edits/')).toEqual({
      branch: 'main',
      expected_head: '2'.repeat(64),
      edits: [{ op: 'move_objects', paths: ['/'] }],
      message: '',
    }),
  );
  await screen.findByText('main has a new version: v3');
});
