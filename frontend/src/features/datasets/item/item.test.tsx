import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { version } from '../operations/pets';
import { ItemPage } from './ItemPage';

const AT = 'projects/vision/datasets/pets/';
const entry = (path: string, more: object = {}) => ({
  path,
  size_bytes: 2048,
  digest: 'ab'.repeat(32),
  media_type: 'image/png',
  label: 'cat',
  split: 'train',
  attributes: { camera: 'A' },
  media_url: `/media/x/${path}`,
  thumb_url: null,
  ...more,
});

const node = (id: string, kind: string, title: string) => ({
  ...{ id, kind, title, subtitle: '', digest: null, facts: {} },
  url: kind === 'run' ? `/runs/${id.slice(4)}` : '/datasets',
});

test('a link shows its target and leads to the file', async () => {
  servePets();
  const link = { target: '../a.png', leads_to: 'a.png', leaves: false, kind: 'file' };
  const asked = (_: Request, url: URL) =>
    url.searchParams.get('path') === 'small/a.png'
      ? entry('small/a.png', { link, media_type: 'inode/symlink', media_url: '', label: null })
      : entry('a.png');
  serve('GET', `${AT}versions/v2/entries/at/`, asked);
  await renderPage(<ItemPage />, '/datasets/pets/item?item=small/a.png', '/datasets/$name/item');
  await screen.findByText('../a.png');
  const open = await screen.findByRole('link', { name: 'Open a.png' });
  expect(open.getAttribute('href')).toContain('item=a.png');
  expect(screen.queryByRole('link', { name: 'Download' })).toBeNull();
  expect(screen.queryByText('Labels by people')).toBeNull();
});

test('a link to nothing says so and offers no folder', async () => {
  servePets();
  const link = { target: 'gone.png', leads_to: 'small/gone.png', leaves: false, kind: 'nothing' };
  const found = entry('small/a.png', { link, media_type: 'inode/symlink', media_url: '', label: null });
  serve('GET', `${AT}versions/v2/entries/at/`, found);
  await renderPage(<ItemPage />, '/datasets/pets/item?item=small/a.png', '/datasets/$name/item');
  await screen.findByText('This version has nothing at small/gone.png.');
  expect(screen.queryByRole('link', { name: /Show the folder/ })).toBeNull();
});

function servePets() {
  const picture = { width: 4000, height: 3000, format: 'JPEG', mode: 'RGB', exif: { Model: 'Box' } };
  const relabelled = { before: entry('a.png', { label: 'dog' }), after: entry('a.png') };
  serve('GET', AT, { name: 'pets', latest: version(2) });
  serve('GET', `${AT}versions/v2/entries/at/`, (_: Request, url: URL) => entry(url.searchParams.get('path') ?? ''));
  serve('GET', `${AT}versions/v2/entries/`, (_: Request, url: URL) => ({
    ...listing(...['a.png', 'b.png'].map((path) => entry(path)).slice(Number(url.searchParams.get('offset') ?? 0))),
    folders: [],
    total: 2,
    total_is_exact: true,
    counted_before: null,
  }));
  serve('GET', `${AT}versions/v2/entries/picture/`, { picture });
  serve('GET', `${AT}versions/v2/entries/history/`, {
    ...listing(
      { version: version(2), kinds: ['label'], ...relabelled },
      { version: version(1), kinds: ['added'], before: null, after: entry('a.png', { label: 'dog' }) },
    ),
    ends_at: null,
  });
  serve('GET', `${AT}versions/v2/lineage/`, {
    nodes: [
      node('dataset_version:2', 'dataset_version', 'pets@v2'),
      node('run:r', 'run', '#3 train'),
      node('run:w', 'run', '#2 clean'),
      node('dataset_version:1', 'dataset_version', 'raw@v1'),
      node('run:b', 'run', '#1 gather'),
    ],
    edges: [
      { from: 'dataset_version:2', to: 'run:r', label: 'dataset' },
      { from: 'run:w', to: 'dataset_version:2', label: 'wrote' },
      { from: 'dataset_version:1', to: 'run:w', label: 'dataset' },
      { from: 'run:b', to: 'dataset_version:1', label: 'wrote' },
    ],
  });
  const given = { task_id: 't', task_name: 'Sort', label: 'cat', labeler: 'mia', is_final: true };
  const at = { created_at: '2026-01-01T00:00:00Z', verdict: 'accept', auditor: 'noah' };
  serve('GET', 'projects/vision/labelx/item-labels/', listing({ id: 'g', ...given, ...at }));
}

test('a file tells what it is, who labelled it, what became of it and who used it', async () => {
  servePets();
  const { container } = await renderPage(<ItemPage />, '/datasets/pets/item?item=a.png', '/datasets/$name/item');
  await screen.findByRole('heading', { level: 1, name: 'a.png' });
  const facts = within(await screen.findByRole('region', { name: 'File details' }));
  await facts.findByText('4,000 × 3,000 pixels');
  within(await screen.findByRole('region', { name: 'EXIF' })).getByText('Box');
  const labels = within(screen.getByRole('region', { name: 'Labels by people' }));
  await labels.findByText('accepted by noah');
  const history = within(screen.getByRole('region', { name: 'History of this path' }));
  await history.findByText('dog → cat');
  expect(history.getAllByRole('link').map((link) => link.textContent)).toEqual(['v2', 'v1']);
  const used = within(screen.getByRole('region', { name: 'Who uses v2' }));
  expect((await used.findByRole('link', { name: '#3 train' })).getAttribute('href')).toBe('/runs/r');
  // The writer of v2 is told apart from its readers. The run that wrote what the writer read belongs to another
  // version.
  expect(used.getAllByRole('listitem').map((line) => line.textContent)).toEqual([
    'Run #3 train',
    'Written by the run #2 clean',
  ]);
  // Opened by its address alone it has its place in the list of all files.
  screen.getByRole('button', { name: 'Next file' });
  await expectNoViolations(container);
});

test('a file that was opened from a list has neighbours there', async () => {
  servePets();
  await renderPage(<ItemPage />, '/datasets/pets/item?item=a.png&at=0', '/datasets/$name/item');
  const next = await screen.findByRole<HTMLButtonElement>('button', { name: 'Next file' });
  await eventually(() => expect(next.disabled).toBe(false));
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Previous file' }).disabled).toBe(true);
});

const TABLE = {
  columns: [
    { name: 'id', type: 'integer', declared: 'int64' },
    { name: 'word', type: 'text', declared: 'string' },
  ],
  rows: [['7', '<b>x</b>']],
  row_count: 3000,
  row_groups: 2,
  column_count: 2,
  writer: 'parquet-cpp',
};

test.each([
  [{ table: TABLE, reason: '', truncated: true }, ['3,000 rows', '2 row groups', 'int64', '<b>x</b>']],
  [{ table: { ...TABLE, rows: [] }, reason: 'broken', truncated: true }, ['Only the columns are shown', 'string']],
  [{ table: null, reason: 'cut', truncated: false }, [/The file is not whole/]],
])('a Parquet file shows what of it can be read', async (answer, words) => {
  servePets();
  serve('GET', `${AT}versions/v2/entries/at/`, entry('t.parquet', { media_type: 'application/octet-stream' }));
  serve('GET', `${AT}versions/v2/entries/preview/`, answer);
  const { container } = await renderPage(<ItemPage />, '/datasets/pets/item?item=t.parquet', '/datasets/$name/item');
  for (const word of words) await screen.findByText(word);
  await expectNoViolations(container);
});
