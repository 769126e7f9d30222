import { expect, test } from 'vitest';
import { countOf, has, indices, NONE, toggled, withRun } from './picking';

test('single cells and whole runs are chosen, joined and taken back', () => {
  let runs = toggled(toggled(NONE, 5), 7);
  expect(runs).toEqual([
    [5, 6],
    [7, 8],
  ]);
  runs = toggled(runs, 6);
  expect(runs).toEqual([[5, 8]]);
  runs = withRun(runs, 900_000, 10);
  expect(countOf(runs)).toBe(3 + 899_991);
  expect([4, 5, 7, 8, 10, 900_000, 900_001].map((index) => has(runs, index))).toEqual([
    false,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
  runs = toggled(withRun(NONE, 3, 5), 4);
  expect([...indices(runs)]).toEqual([3, 5]);
  expect(toggled(toggled(runs, 3), 5)).toEqual(NONE);
});
