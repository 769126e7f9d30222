import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { chosenFiles, differences, placed, savedFile } from './chosen';
import { meanwhileOf } from './meanwhile';
import { patiently } from './patience';
import { nameFrom, UploadForm } from './UploadForm';
import { UploadPage } from './UploadPage';
import { labelsFrom } from './uploadApi';

function fileAt(path: string, text = 'x', lastModified = 1000): File {
  const file = new File([text], path.slice(path.lastIndexOf('/') + 1), { lastModified });
  Object.defineProperty(file, 'webkitRelativePath', { value: path });
  return file;
}

const PETS = () => ['pets/cats/1.png', 'pets/dogs/2.png', 'pets/..', 'pets/cats/0.png'].map((path) => fileAt(path));
const AT_TOP = { folder: '', keepName: false };

test('files come sorted, below the folder that they go to, without names that a dataset cannot hold', () => {
  const chosen = chosenFiles(PETS());
  expect(chosen.root).toBe('pets');
  const { files, problems } = placed(chosen, { folder: 'raw/', keepName: true });
  expect(files.map(({ path }) => path)).toEqual(['raw/pets/cats/0.png', 'raw/pets/cats/1.png', 'raw/pets/dogs/2.png']);
  expect(problems).toEqual([{ path: 'raw/pets/..', kind: 'path_traversal' }]);
  expect(placed(chosen, AT_TOP).files[0]?.path).toBe('cats/0.png');
});

test('of two files with one path, one is refused', () => {
  const { files, problems } = placed(chosenFiles([fileAt('a.png'), fileAt('a.png', 'other')]), AT_TOP);
  expect(files).toHaveLength(1);
  expect(problems).toEqual([{ path: 'a.png', kind: 'path_twice' }]);
});

test('what is chosen again is matched by path, size and time', () => {
  const before = placed(chosenFiles(PETS()), AT_TOP).files;
  const now = [fileAt('pets/cats/0.png'), fileAt('pets/cats/1.png', 'xx'), fileAt('pets/new.png')];
  const differing = differences(before.map(savedFile), placed(chosenFiles(now), AT_TOP).files);
  expect(differing).toEqual([
    { path: 'cats/1.png', kind: 'changed' },
    { path: 'dogs/2.png', kind: 'missing' },
  ]);
});

test.each([
  ['My Pets (2024)', 'my-pets-2024'],
  ['--深い--', ''],
  ['a'.repeat(80), 'a'.repeat(63)],
])('the folder %s gives a dataset its name', (folder, name) => {
  expect(nameFrom(folder)).toBe(name);
});

test('an absent server is asked again, and one that refuses is not', async () => {
  vi.useFakeTimers();
  const waits: unknown[] = [];
  const { signal } = new AbortController();
  const away = new ApiError({ status: 503, code: 'unavailable', title: '' });
  const answers = [() => Promise.reject(away), () => Promise.resolve('done')];
  const done = patiently(
    () => (answers.shift() as () => Promise<string>)(),
    signal,
    (error) => waits.push(error),
  );
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  expect(await done).toBe('done');
  expect(waits).toEqual([away, null]);
  const refused = new ApiError({ status: 403, code: 'forbidden', title: '' });
  await expect(
    patiently(
      () => Promise.reject(refused),
      signal,
      () => {},
    ),
  ).rejects.toBe(refused);
});

test('a chosen folder names its dataset, its files and what is left out', async () => {
  serve('GET', 'projects/vision/datasets/', listing());
  const { container } = await renderPage(<UploadPage />, '/uploads', '/uploads');
  await screen.findByRole('region', { name: 'Drop a folder or files here' });
  await expectNoViolations(container);
  await userEvent.upload(screen.getByTestId('upload-folder'), PETS());

  expect((await screen.findByRole<HTMLInputElement>('combobox', { name: 'Dataset' })).value).toBe('pets');
  screen.getByText('pets · 3 files · 3 B');
  screen.getByText('A new dataset of this name is made.');
  const refused = screen.getByRole('list', { name: '1 file cannot be in a dataset and is left out' });
  within(refused).getByText('..');
  // A new dataset has no folder to replace, so the form does not ask.
  expect(screen.queryByRole('radiogroup')).toBeNull();
  await expectNoViolations(container);

  await userEvent.type(screen.getByRole('textbox', { name: 'Folder in the dataset' }), 'a/../b');
  await userEvent.click(screen.getByRole('button', { name: 'Upload' }));
  await eventually(() => expect(screen.getAllByText(/the path has a “..” segment/)).toHaveLength(2));
});

test('who may not write is told so', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'labeler', unit: null }));
  await renderPage(<UploadPage />, '/uploads', '/uploads');
  await screen.findByText('You may not upload to this project: ask for the role researcher');
});

test('a dataset beyond the list of names is no new one: the upload goes to its branch', async () => {
  let isAway = true;
  serve('GET', 'projects/{project}/datasets/', listing({ name: 'more-cats' }));
  serve('GET', 'projects/{project}/datasets/{dataset}/', () =>
    isAway ? problem(503, 'unavailable', 'Away.') : { id: 'd', name: 'cats' },
  );
  serve('GET', 'projects/{project}/datasets/{dataset}/branches/', listing({ name: 'main' }, { name: 'exp' }));
  serve('GET', 'projects/{project}/datasets/{dataset}/tags/', listing());
  const onStart = vi.fn();
  const search = { dataset: 'cats', branch: 'exp' };
  await renderPage(
    <UploadForm chosen={chosenFiles(PETS())} search={search} onStart={onStart} onCancel={() => {}} />,
    '/uploads',
    '/uploads',
  );
  const submit = await screen.findByRole('button', { name: 'Upload' });
  // The page does not know yet whether the dataset is there.
  const retry = await screen.findByRole('button', { name: 'Try again' });
  expect(submit.hasAttribute('disabled')).toBe(true);
  expect(screen.queryByText('A new dataset of this name is made.')).toBeNull();
  isAway = false;
  await userEvent.click(retry);
  expect((await screen.findByRole<HTMLInputElement>('combobox', { name: 'Branch' })).value).toBe('exp');
  await userEvent.click(submit);
  await eventually(() => expect(onStart).toHaveBeenCalledOnce());
  expect(onStart.mock.calls[0]?.[0]).toMatchObject({ dataset: 'cats', branch: 'exp' });
});

const folderForm = async (provenance: object) => {
  serve('GET', 'projects/{project}/datasets/', listing({ name: 'cats' }));
  serve('GET', 'projects/{project}/datasets/{dataset}/', { id: 'd', name: 'cats' });
  serve('GET', 'projects/{project}/datasets/{dataset}/branches/', listing({ name: 'main' }));
  serve('GET', 'projects/{project}/datasets/{dataset}/tags/', listing());
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/main/', { id: 'v', ref: 'v1', provenance });
  const onStart = vi.fn();
  await renderPage(
    <UploadForm chosen={chosenFiles(PETS())} search={{ dataset: 'cats' }} onStart={onStart} onCancel={() => {}} />,
    '/uploads',
    '/uploads',
  );
  return onStart;
};

test('labels by folder that the last push gave are ticked, and go on only while they are', async () => {
  const onStart = await folderForm({ labels_from: 'folder' });
  await screen.findByText(/did so, and it goes on/);
  const box = screen.getByRole<HTMLInputElement>('checkbox', { name: 'Label each file by its folder' });
  expect(box.checked).toBe(true);
  await userEvent.click(box);
  expect(box.checked).toBe(false);
  await userEvent.click(screen.getByRole('button', { name: 'Upload' }));
  await eventually(() => expect(onStart).toHaveBeenCalledOnce());
  expect(labelsFrom(onStart.mock.calls[0]?.[0].labels, { labels_from: 'folder' })).toBeNull();
});

test('a box that nobody touched leaves labels as the last push had them', async () => {
  const onStart = await folderForm({ labels_from: null });
  await eventually(() => expect(screen.getByRole('button', { name: 'Upload' }).hasAttribute('disabled')).toBe(false));
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'Label each file by its folder' }).checked).toBe(false);
  await userEvent.click(screen.getByRole('button', { name: 'Upload' }));
  await eventually(() => expect(onStart).toHaveBeenCalledOnce());
  const labels = onStart.mock.calls[0]?.[0].labels;
  expect([labelsFrom(labels, {}), labelsFrom(labels, { labels_from: 'folder' })]).toEqual([null, 'folder']);
});

const puts = ['a.png', 'b.png', 'new.png'].map((path) => ({ path }));
const branchAt = (files: Record<string, [path: string, digest: string][]>) => ({
  storedAt: async (ref: string) => {
    const found = files[ref];
    if (!found) throw new ApiError({ status: 410, code: 'version_expired', title: '' });
    return found.map(([path, digest]) => ({ path, digest }));
  },
});

test('what others put there while an upload ran is told, what was there before is not', async () => {
  const api = branchAt({
    one: [
      ['a.png', '1'],
      ['b.png', '1'],
    ],
    two: [
      ['a.png', '1'],
      ['b.png', '2'],
      ['new.png', '3'],
    ],
  });
  expect(await meanwhileOf(api, 'two', { commit: 'two' }, puts)).toBeNull();
  expect(await meanwhileOf(api, 'one', { commit: 'two' }, puts)).toEqual({ replaced: ['b.png', 'new.png'] });
  expect(await meanwhileOf(api, null, { commit: 'one' }, puts)).toEqual({ replaced: ['a.png', 'b.png'] });
  // Where it began is not readable any more.
  expect(await meanwhileOf(api, 'gone', { commit: 'two' }, puts)).toEqual({ replaced: [] });
});
