import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { folderShape, splitOfPath } from './classFolders';

interface Case {
  name: string;
  paths: string[];
  classes: string[];
  splits: string[][];
}

const cases = JSON.parse(readFileSync('../tests/sdk/manifests/layers/class_folders.json', 'utf8')) as Case[];

test.each(cases)('$name', ({ paths, classes, splits }) => {
  expect(folderShape(paths)).toEqual({ classes, splits });
});

test('a path is in the split of its folder', () => {
  const { splits } = folderShape(['train/a/1.png', 'train/b/2.png', 'valid/a/3.png', 'valid/b/4.png']);
  expect(splitOfPath('valid/a/3.png', splits)).toBe('val');
  expect(splitOfPath('valid.txt', splits)).toBeNull();
});
