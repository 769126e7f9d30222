import { expect, test, vi } from 'vitest';
import { rangeFromZero } from './uplot';

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
