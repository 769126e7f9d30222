import { expect, test } from 'vitest';
import { formOf, isLimit, isReplace, requestOf } from './cacheForm';

test.each([
  ['', true],
  ['0.5', true],
  ['1048576', true],
  ['0', false],
  ['-1', false],
  ['1048577', false],
  ['1e3', false],
  ['800GB', false],
])('a limit of %j GiB', (text, isRight) => expect(isLimit(text)).toBe(isRight));

test.each([
  ['1', true],
  ['1440', true],
  ['0.5', false],
  ['1441', false],
  ['', false],
])('%j minutes', (text, isRight) => expect(isReplace(text)).toBe(isRight));

test('a value that was not changed is sent as it was, to the byte', () => {
  const before = { limit_bytes: 800_000_000_001, replace_after_s: 301 };
  expect(requestOf(formOf(before), before)).toEqual(before);
  expect(requestOf({ ...formOf(before), limit: '2' }, before)).toEqual({ limit_bytes: 2 ** 31, replace_after_s: 301 });
  expect(requestOf({ limit: ' ', replace: '10' }, before)).toEqual({ limit_bytes: null, replace_after_s: 600 });
});
