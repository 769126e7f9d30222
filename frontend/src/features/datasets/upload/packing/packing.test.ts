import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { changesFile } from './changes';
import { FileUnreadable, hashPack, packBlob } from './pack';
import { comparePaths, pathProblem } from './paths';
import { packBytes, planPacks } from './plan';

const repeated = (count: number) => new Uint8Array(256 * count).map((_, at) => at % 256);
const FILES: Record<string, BlobPart> = {
  'a/b.txt': 'hello',
  'a/empty': '',
  'ü/深.txt': 'x'.repeat(5000),
  [`z/${'n'.repeat(120)}.bin`]: repeated(40),
  '\u{1F600}.txt': 'emoji',
  '\uff5e.txt': 'wide',
};
const members = () =>
  Object.entries(FILES)
    .map(([path, data]) => ({ path, blob: new Blob([data]) }))
    .sort((left, right) => comparePaths(left.path, right.path));

test('a pack has the bytes that the SDK gives it', async () => {
  let read = 0;
  const summary = await hashPack(members(), (bytes) => {
    read += bytes;
  });
  // PackWriter makes this digest of the same files.
  expect(summary.digest).toBe('bc999ed286feb38487a2917cfce51f3223f6aaaa335740fe0ac53985d3d43dc6');
  expect(summary.size).toBe(40960);
  expect(read).toBe(5 + 5000 + 10_240 + 5 + 4);
  expect(packBytes(members().map(({ path, blob }) => ({ path, size: blob.size })))).toBe(summary.size);
  const blob = packBlob(members());
  expect(blob.size).toBe(summary.size);
  for (const { path, offset, size } of summary.members) {
    expect(offset % 4096).toBe(0);
    expect(await blob.slice(offset, offset + size).text()).toBe(await new Blob([FILES[path] ?? '']).text());
  }
});

test('paths come in the order of their UTF-8 bytes', () => {
  const bytes = new TextEncoder();
  const inBytes = (left: string, right: string) =>
    Buffer.compare(Buffer.from(bytes.encode(left)), Buffer.from(bytes.encode(right)));
  const paths = ['b', 'a/b', 'a', 'a-b', '\u{1F600}', '\uff5e', '\ue000', 'ü', 'a\u{10FFFF}', 'a\uffff', '深'];
  expect([...paths].sort(comparePaths)).toEqual([...paths].sort(inBytes));
});

test.each([
  ['', 'path_empty'],
  ['/etc/passwd', 'path_absolute'],
  ['a\0b', 'path_has_nul'],
  ['a/\ud800.png', 'path_not_unicode'],
  ['a/../b', 'path_traversal'],
  ['..', 'path_traversal'],
  ['a//b', 'path_not_normalised'],
  ['./a', 'path_not_normalised'],
  ['a/', 'path_not_normalised'],
  ['深'.repeat(86), 'path_too_long'],
  [`${'a/'.repeat(2050)}b`, 'path_too_long'],
  ['a\\b/ -\n.png', null],
  ['..a/b..', null],
  ['深'.repeat(85), null],
])('path number %# is judged as the server would', (path, problem) => {
  expect(pathProblem(path)).toBe(problem);
});

test('a large file has a pack of its own, and a full pack is followed by another', () => {
  const files = ['a', 'b', 'c', 'd'].map((path, at) => ({ path, size: at === 1 ? 90_000 : 30_000 }));
  const packs = planPacks(files, { target: 80_000, own: 64_000 });
  expect(packs.map(({ files: held }) => held.map(({ path }) => path))).toEqual([['b'], ['a', 'c'], ['d']]);
  for (const { files: held, bytes } of packs) expect(bytes).toBe(packBytes(held));
});

test('a file that cannot be read any more is named', async () => {
  const gone = new Blob(['gone']);
  gone.slice = () => {
    throw new DOMException('The file is not there.', 'NotFoundError');
  };
  await expect(hashPack([{ path: 'a/gone.png', blob: gone }])).rejects.toThrow(new FileUnreadable('a/gone.png'));
});

test('changes say what is put and what is deleted', () => {
  const put = { path: 'ü.png', size: 5, digest: 'ab', pack: 'cd', offset: 4096, attributes: null };
  const rows = tableFromIPC(changesFile([put], ['old.png'])).toArray();
  expect(rows.map((row) => ({ ...row.toJSON() }))).toEqual([
    { ...put, op: 'put', size: 5n, offset: 4096n, media_type: null },
    {
      op: 'delete',
      path: 'old.png',
      size: null,
      digest: null,
      media_type: null,
      attributes: null,
      pack: null,
      offset: null,
    },
  ]);
});
