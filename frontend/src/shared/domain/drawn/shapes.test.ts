import { expect, test } from 'vitest';
import { corners, dotsOf, labelCounts, maskStrips, outlineOf } from './shapes';

const object = (extra: object) => ({ id: 'a', label: 'car', kind: 'box', ...extra });

test('a box is four corners, in fractions as they are stored', () => {
  expect(outlineOf(object({ box: [1.5, 2, 3, 4] }))).toBe('M1.5 2L4.5 2L4.5 6L1.5 6Z');
});

test('a quarter turn clockwise swaps the sides of a rotated box', () => {
  const turned = corners([10, 10, 4, 2], 90).map((value) => Math.round(value * 1e9) / 1e9);
  expect(turned).toEqual([11, 8, 11, 12, 9, 12, 9, 8]);
});

test('a polygon keeps its holes as rings of their own', () => {
  const ring = [0, 0, 9, 0, 9, 9];
  const hole = [1, 1, 2, 1, 2, 2];
  expect(outlineOf(object({ kind: 'polygon', parts: [[ring, hole]] }))).toBe('M0 0L9 0L9 9ZM1 1L2 1L2 2Z');
});

test('absent points of a skeleton are not drawn, hidden ones are marked', () => {
  expect(dotsOf(object({ kind: 'keypoints', points: [1, 2, 2, 3, 4, 1, 0, 0, 0] }))).toEqual([
    { x: 1, y: 2, isHidden: false },
    { x: 3, y: 4, isHidden: true },
  ]);
});

test("COCO's text of a mask is read column by column", () => {
  // Runs 5, 2, 2, 2, 9: rows 1 and 2 of columns 1 and 2.
  expect(maskStrips({ size: [4, 5], counts: '52207' })).toEqual([
    [1, 1, 2],
    [2, 1, 2],
  ]);
});

test('long runs and runs that are shorter than those before them are read', () => {
  // Runs 100, 2000, 40, 3, 70000.
  const strips = maskStrips({ size: [100, 722], counts: 'T3`n1X1cQNXZT2' });
  expect(strips.reduce((sum, [, , height = 0]) => sum + height, 0)).toBe(2003);
  expect(strips[0]).toEqual([1, 0, 100]);
  expect(strips.at(-1)).toEqual([21, 40, 3]);
});

test('labels are counted, the most frequent first', () => {
  expect(labelCounts([object({}), object({ label: 'bike' }), object({})])).toEqual([
    ['car', 2],
    ['bike', 1],
  ]);
});
