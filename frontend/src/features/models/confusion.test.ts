import { expect, test } from 'vitest';
import { classScores, worstConfusions, worstLabels } from './confusion';

const labels = ['cat', 'dog', 'fox'];
const matrix = [
  [8, 2, 0],
  [1, 9, 0],
  [0, 0, 0],
];

test('recall is by truth, precision by answer', () => {
  const [cat, dog] = classScores(labels, matrix);
  expect(cat).toMatchObject({ support: 10, recall: 0.8 });
  expect(cat?.precision).toBeCloseTo(8 / 9);
  expect(dog?.precision).toBeCloseTo(9 / 11);
  expect(dog?.f1).toBeCloseTo((2 * 0.9 * (9 / 11)) / (0.9 + 9 / 11));
});

test('a class without samples has no score, not zero', () => {
  expect(classScores(labels, matrix)[2]).toEqual({ label: 'fox', support: 0, recall: null, precision: null, f1: null });
});

test('mistakes come by frequency, hits are none', () => {
  expect(worstConfusions(labels, matrix)).toEqual([
    { truth: 'cat', predicted: 'dog', count: 2 },
    { truth: 'dog', predicted: 'cat', count: 1 },
  ]);
});

/** Right answers only, but for these mistakes. */
function square(size: number, wrong: [row: number, column: number, count: number][]): number[][] {
  const cells = Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_, column) => (row === column ? 9 : 0)),
  );
  for (const [row, column, count] of wrong) (cells[row] as number[])[column] = count;
  return cells;
}

test('of many labels those of the most frequent mistakes are shown, in their order, and the first ones beside them', () => {
  const many = square(100, [
    [90, 3, 5],
    [7, 3, 4],
    [8, 9, 1],
  ]);
  expect(worstLabels(many, 3)).toEqual([3, 7, 90]);
  expect(worstLabels(many, 4)).toEqual([0, 3, 7, 90]);
});

test('the most frequent mistakes are found wherever they are', () => {
  const all = square(40, []).map((row, at) => row.map((_, column) => (at === column ? 0 : at * 40 + column)));
  const counts = worstConfusions(
    all.map((_, at) => `${at}`),
    all,
    3,
  ).map(({ count }) => count);
  expect(counts).toEqual([39 * 40 + 38, 39 * 40 + 37, 39 * 40 + 36]);
});
