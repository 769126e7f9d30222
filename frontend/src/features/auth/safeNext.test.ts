import { expect, test } from 'vitest';
import { safeNext } from './safeNext';

test.each([
  [undefined, '/'],
  ['/runs/1?tab=log', '/runs/1?tab=log'],
  ['https://evil.example/', '/'],
  ['//evil.example/', '/'],
  ['/\\evil.example/', '/'],
  ['javascript:alert(1)', '/'],
  ['/login?next=/login', '/'],
])('%s leads to %s', (next, target) => {
  expect(safeNext(next)).toBe(target);
});
