import { expect, test } from 'vitest';
import { refAfter } from './edited';

test.each([
  ['nothing, so the newest of main', undefined, 'main', 'v3', undefined],
  ['a version of main', 'v2', 'main', 'v3', 'v3'],
  ['main by its name', 'main', 'main', 'v3', 'main'],
  ['a branch', 'fix', 'fix', 'abc', 'fix'],
  ['the commit that a branch was at', 'abcdef012345', 'fix', 'abc', 'fix'],
  ['another branch than the one that was changed', 'main', 'fix', 'abc', 'fix'],
])('a page that names %s', (_, shown, branch, ref, then) => {
  expect(refAfter(shown, branch, ref)).toBe(then);
});
