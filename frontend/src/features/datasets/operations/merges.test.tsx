import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, serve } from '@/test/fakeApi';
import {
  AT,
  asked,
  bodyOf,
  branch,
  conflict,
  openFiles,
  openVersions,
  pressMerge,
  preview,
  version,
  withDataset,
} from './pets';

withDataset();

test('branches, tags and both parents of a merge are listed', async () => {
  const { container } = await openVersions();
  const branches = await screen.findByRole('table', { name: 'Branches' });
  expect(await within(branches).findByText('fix')).toBeTruthy();
  // The branch that always exists cannot be deleted.
  expect(within(branches).queryByRole('button', { name: 'Delete main' })).toBeNull();
  expect(within(branches).getByRole('button', { name: 'Delete fix' })).toBeTruthy();
  within(screen.getByRole('table', { name: 'Tags' })).getByText('release');
  const history = screen.getByRole('table', { name: 'Versions' });
  expect(within(history).getByRole('link', { name: '99999999' }).getAttribute('href')).toContain('9'.repeat(64));
  await expectNoViolations(container);
});

test('a branch is never offered to be merged into itself', async () => {
  serve('POST', `${AT}merges/preview/`, preview());
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await userEvent.click(within(dialog).getByRole('combobox', { name: 'Into the branch' }));
  expect(screen.getAllByRole('option').map((option) => option.textContent)).toEqual(['main']);
});

test('a dataset with one branch has nothing to merge', async () => {
  serve('GET', `${AT}branches/`, listing(branch('main', 2)));
  await openVersions();
  const branches = await screen.findByRole('table', { name: 'Branches' });
  await within(branches).findByText('main');
  expect(screen.queryByRole('button', { name: /^Merge/ })).toBeNull();
});

test('a merge with conflicts is sent once each of them is settled', async () => {
  const label = conflict('a.txt', { layer: 'labels', field: 'label', our_value: 'cat', their_value: 'dog' });
  const sides = { ours: 'added', theirs: 'added', our_value: '{"camera": "A"}', their_value: '{"iso": 100}' };
  const attributes = conflict('c.txt', { field: 'attributes', ...sides });
  const found = preview({ conflicts_total: 3, conflicts: [label, conflict('b.txt'), attributes] });
  serve('POST', `${AT}merges/preview/`, found);
  serve('POST', `${AT}merges/`, asked('pending'));
  serve('GET', `${AT}commits/c/`, asked('published', { version: version(3) }));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await within(dialog).findByText('3 conflicts: both sides changed the same');
  within(dialog).getByText('Conflicts are not counted here.');
  const row = (name: string) => within(within(dialog).getByRole('radiogroup', { name }));
  row('a.txt Labels from tasks · label').getByText('cat');
  row('b.txt').getByText('removed');
  row('c.txt attributes, same bytes').getByText('camera: A, iso: nothing');
  await expectNoViolations(dialog);

  const merge = within(dialog).getByRole('button', { name: 'Merge' });
  await userEvent.click(row('a.txt Labels from tasks · label').getByRole('radio', { name: 'the other side' }));
  await userEvent.click(row('b.txt').getByRole('radio', { name: 'this branch' }));
  within(dialog).getByText('2 of 3 settled');
  expect(merge.hasAttribute('disabled')).toBe(true);
  await userEvent.click(row('c.txt attributes, same bytes').getByRole('radio', { name: 'this branch' }));
  await userEvent.click(merge);

  await eventually(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(bodyOf('merges/')).toEqual({
    source: 'fix',
    branch: 'main',
    on_conflict: 'fail',
    // Settled for what was seen.
    expected_head: '2'.repeat(64),
    resolutions: [
      { path: 'a.txt', layer: 'labels', field: 'label', take: 'theirs' },
      { path: 'b.txt', layer: '', field: '', take: 'ours' },
      { path: 'c.txt', layer: '', field: 'attributes', take: 'ours' },
    ],
    message: '',
  });
});

test('a merge that the server refuses says why and what to do', async () => {
  serve('POST', `${AT}merges/preview/`, preview());
  const error = { code: 'head_moved', detail: 'main is elsewhere.', action: 'Merge again.', head: null };
  serve('POST', `${AT}merges/`, asked('conflict', { error }));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await pressMerge(dialog);
  expect((await within(dialog).findByRole('alert')).textContent).toContain('Merge again.');
});

test('a merge shows how far it is, and is cancelled', async () => {
  const step = { state: 'building', stage: 'comparing', progress: 0.2, cancellable: true };
  let request = asked('building', { ...step, rows_done: 1200, rows_total: 4000 });
  serve('POST', `${AT}merges/preview/`, preview());
  serve('POST', `${AT}merges/`, () => request);
  serve('GET', `${AT}commits/c/`, () => request);
  serve('POST', `${AT}commits/c/cancel/`, () => {
    const error = { code: 'commit_cancelled', detail: 'Alice cancelled it.', action: '', head: null };
    request = asked('cancelled', { error });
    return request;
  });
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'Merge fix into another branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'Merge versions' });
  await pressMerge(dialog);
  const bar = await within(dialog).findByRole('progressbar', { name: 'Comparing: 1,200 of 4,000' });
  expect(bar.getAttribute('aria-valuetext')).toBe('20%');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }));
  await screen.findByText('Cancelled: the branch is as it was.');
  // The form is kept, for another try.
  expect(within(dialog).queryByRole('progressbar')).toBeNull();
  expect(within(dialog).queryByRole('alert')).toBeNull();
});

test('a new branch begins where one is', async () => {
  serve('POST', `${AT}branches/`, branch('next', 2));
  await openVersions();
  await userEvent.click(await screen.findByRole('button', { name: 'New branch' }));
  const dialog = await screen.findByRole('dialog', { name: 'New branch' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Next!');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Create' }));
  within(dialog).getByText(/Use lower-case letters/);
  await userEvent.clear(within(dialog).getByRole('textbox', { name: 'Name' }));
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'next');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Create' }));
  await eventually(() => expect(bodyOf('branches/')).toEqual({ name: 'next', at: 'main' }));
});

test('a version is undone from its menu', async () => {
  serve('POST', `${AT}reverts/preview/`, preview());
  serve('POST', `${AT}reverts/`, asked('published', { version: version(3) }));
  await openFiles();
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Undo this version…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Undo v2' });
  await within(dialog).findByText('2 labels or splits change');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Undo it' }));
  await eventually(() =>
    expect(bodyOf('reverts/')).toEqual({ version: 'v2', branch: 'main', on_conflict: 'fail', message: '' }),
  );
});
