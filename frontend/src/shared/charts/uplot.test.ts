import { expect, test, vi } from 'vitest';
import { isAlone, rangeFromZero } from './uplot';

vi.mock('uplot', () => ({ default: class {} }));

test('an axis of shares goes up to ten percent at least', () => {
  expect(rangeFromZero(0, 10)).toEqual([0, 10]);
  expect(rangeFromZero(0.4, 10)).toEqual([0, 10]);
  expect(rangeFromZero(80, 10)).toEqual([0, 84]);
});

test('an axis without points, or of nothing but zeros, has a height', () => {
  expect(rangeFromZero(null)).toEqual([0, 1]);
  expect(rangeFromZero(0)).toEqual([0, 1]);
});

test('a value that is alone is drawn as a point', () => {
  expect(isAlone([0.981])).toBe(true);
  expect(isAlone([null, 0, undefined])).toBe(true);
  expect(isAlone([1, 2])).toBe(false);
  expect(isAlone([null])).toBe(false);
});
