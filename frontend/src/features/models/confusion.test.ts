import { expect, test } from 'vitest';
import { classScores, worstConfusions } from './confusion';

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
