import { expect, test } from 'vitest';
import type { Shape } from '../model';
import { handlesWithin } from './handles';

const ring = Array.from({ length: 5000 }, (_, index) => [index, index % 2]).flat();
const shape: Shape = { kind: 'polygon', parts: [[ring]] };

test('a shape of many vertices has handles for those in sight', () => {
  const near = handlesWithin(shape, 0, [10, 0, 2, 1]);
  expect(near.map(({ at }) => at[0])).toEqual([10, 11, 12]);
  expect(near[0]).toMatchObject({ kind: 'vertex', place: { part: 0, ring: 0, index: 10 } });
});

test('it has none while too many are in sight', () => {
  expect(handlesWithin(shape, 0, [0, 0, 5000, 1])).toEqual([]);
});
