import { describe, expect, test } from 'vitest';
import { groupCurves, withoutRank } from './groups';
import { smooth } from './smoothing';

describe('smoothing', () => {
  test('a constant stays the same from the first point on', () => {
    for (const value of smooth([2, 2, 2], 0.9)) expect(value).toBeCloseTo(2);
  });

  test('weight 0 changes nothing', () => {
    expect(smooth([1, 5, 3], 0)).toEqual([1, 5, 3]);
  });

  test('gaps stay gaps and do not count', () => {
    const [first, gap, last] = smooth([1, null, 1], 0.5);
    expect([first, gap, last]).toEqual([1, null, 1]);
  });

  test('the second value follows the formula', () => {
    // mean = (0.5·0.5·1 + 0.5·3) = 1.75; bias 1 − 0.5² = 0.75
    expect(smooth([1, 3], 0.5)[1]).toBeCloseTo(1.75 / 0.75);
  });
});

describe('groups', () => {
  test('the parts of one measure share a chart', () => {
    expect(groupCurves(['loss', 'rank-1/loss', 'rank-12/val/loss'])).toEqual([
      { name: 'loss', keys: ['loss', 'rank-1/loss', 'rank-12/val/loss'] },
    ]);
    expect(withoutRank('system/rank-3/gpu0_percent')).toBe('system/gpu0_percent');
    expect(groupCurves(['train/loss', 'lr', 'val/loss', 'val_accuracy'])).toEqual([
      { name: 'loss', keys: ['train/loss', 'val/loss'] },
      { name: 'lr', keys: ['lr'] },
      { name: 'accuracy', keys: ['val_accuracy'] },
    ]);
  });
});
