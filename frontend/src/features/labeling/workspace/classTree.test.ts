import { expect, test } from 'vitest';
import type { Label } from '@/api/contract/labeling';
import { classRows, countOf, matchingRows, openRows } from './classTree';

const label = (id: number, name: string, parent: number | null = null): Label => ({
  ...{ id, name, parent, color: '#0072B2', hotkey: '', tools: ['classification'], attributes: [] },
  ...{ skeleton: null, ignore: false },
});
const labels = [
  label(1, 'collie', 3),
  label(2, 'animal'),
  label(3, 'dog', 2),
  label(4, 'cat', 2),
  label(5, 'plant'),
  label(6, 'lost', 99),
];
const names = (rows: ReturnType<typeof classRows>) => rows.map((row) => '·'.repeat(row.depth) + row.label.name);

test('children stand behind their parent, and a class without its parent at the top', () => {
  const rows = classRows(labels);
  expect(names(rows)).toEqual(['animal', '·dog', '··collie', '·cat', 'plant', 'lost']);
  expect(rows[2]).toMatchObject({ path: ['animal', 'dog', 'collie'], above: [2, 3], hasChildren: false });
});

test('a closed class hides all below it, and counts their images', () => {
  const rows = classRows(labels);
  expect(names(openRows(rows, new Set([3])))).toEqual(['animal', '·dog', '·cat', 'plant', 'lost']);
  const counts = new Map([
    [1, 4],
    [3, 1],
    [4, 2],
  ]);
  const [animal, dog] = rows;
  if (!animal || !dog) throw new Error('there are no rows');
  expect(countOf(animal, rows, counts, new Set([2]))).toBe(7);
  expect(countOf(dog, rows, counts, new Set())).toBe(1);
});

test('a search finds words anywhere in the path, and names before paths', () => {
  const rows = classRows(labels);
  expect(matchingRows(rows, 'DOG').map((row) => row.label.name)).toEqual(['dog', 'collie']);
  expect(matchingRows(rows, 'animal c').map((row) => row.label.name)).toEqual(['collie', 'cat']);
  expect(matchingRows(rows, 'horse')).toEqual([]);
});
