import { expect, test } from 'vitest';
import { extended, NONE, runsOf, toggled, withAll } from './selection';

const LIST = ['a', 'b', 'c', 'd'];

test('a click selects and takes back', () => {
  const once = toggled(NONE, LIST, 1);
  expect([...once.paths]).toEqual(['b']);
  expect([...toggled(once, LIST, 1).paths]).toEqual([]);
  expect(toggled(NONE, LIST, 9)).toBe(NONE);
});

test('shift selects from the last click, either way, but never what stays in its group', () => {
  const from = toggled(NONE, LIST, 3);
  expect([...extended(from, LIST, 1, new Set([2])).paths]).toEqual(['d', 'b']);
  expect([...extended(NONE, LIST, 2, new Set()).paths]).toEqual(['c']);
});

test('all of a kind are added to what is selected', () => {
  expect([...withAll(toggled(NONE, LIST, 0), ['x']).paths]).toEqual(['a', 'x']);
});

test('groups follow each other, and what is found alone is one run', () => {
  const runs = runsOf([{ group: 0 }, { group: 0 }, { group: 1 }]);
  expect(runs.map(({ group, start, items }) => [group, start, items.length])).toEqual([
    [0, 0, 2],
    [1, 2, 1],
  ]);
  expect(runsOf([{ group: -1 }, { group: -1 }])).toHaveLength(1);
});
