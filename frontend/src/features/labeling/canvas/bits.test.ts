import { expect, test } from 'vitest';
import { BitMask } from './bits';
import { runsOf } from './rle';

const LARGE = { width: 20000, height: 12500 };

test('a stroke on 250 megapixels takes memory for its columns only', () => {
  const mask = new BitMask(LARGE.width, LARGE.height);
  mask.stroke([10000, 6000], [10400, 6000], 20, true);
  expect(mask.bytes).toBeLessThan(1 << 20);
  expect([mask.get(10000, 6000), mask.get(10200, 6021), mask.get(9000, 6000)]).toEqual([true, false, false]);
  const rle = mask.toRle();
  expect(rle.size).toEqual([LARGE.height, LARGE.width]);
  const again = BitMask.of(rle);
  expect(again.toRle()).toEqual(rle);
  again.stroke([10000, 6000], [10400, 6000], 25, false);
  expect(again.isEmpty()).toBe(true);
});

test('runs go over the borders of pages as they were filled', () => {
  // A page has 131,072 bits: 2,048 columns of 64 pixels.
  const mask = new BitMask(6000, 64);
  for (let x = 2040; x < 4200; x++) mask.fillColumn(x, 0, 64, true);
  expect([...runsOf(mask.toRle())]).toEqual([[2040 * 64, 4200 * 64]]);
  for (let x = 2047; x < 2049; x++) mask.fillColumn(x, 0, 64, false);
  expect([...runsOf(mask.toRle())]).toEqual([
    [2040 * 64, 2047 * 64],
    [2049 * 64, 4200 * 64],
  ]);
  const whole = new BitMask(6000, 64);
  for (let x = 0; x < 6000; x++) whole.fillColumn(x, 0, 64, true);
  expect([...runsOf(whole.toRle())]).toEqual([[0, 6000 * 64]]);
});
