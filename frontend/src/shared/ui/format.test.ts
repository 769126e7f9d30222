import { renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createFormat, formatDuration, useFormat } from './format';

const en = createFormat('en');
const zh = createFormat('zh');

test.each([
  [0, '0 B'],
  [1023, '1,023 B'],
  [1024, '1 KiB'],
  [335_544_320_000, '312.5 GiB'],
])('%d bytes read %s', (size, words) => {
  expect(en.bytes(size)).toBe(words);
});

test.each([
  [0, '0.0s'],
  [0.42, '0.42s'],
  [59.6, '1m 00s'],
  [185, '3m 05s'],
  [8040, '2h 14m'],
  [183_600, '2d 03h'],
  [Number.NaN, '–'],
])('%d seconds read %s', (seconds, words) => {
  expect(formatDuration(seconds)).toBe(words);
});

test.each([
  [0.42, '0.42秒'],
  [45, '45秒'],
  [1800, '30分00秒'],
  [8040, '2小时14分'],
  [183_600, '2天03小时'],
])('%d seconds read %s in Chinese', (seconds, words) => {
  expect(zh.duration(seconds)).toBe(words);
});

test('metrics keep four digits, and tiny ones their exponent', () => {
  expect([0.123456, 0, 3e-5, 98.7654].map(en.metric)).toEqual(['0.1235', '0', '3.00e-5', '98.77']);
  expect(en.metric(Number.NaN)).toBe('NaN');
});

test('dates are relative in the language of the page', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  expect(en.relative('2026-01-01T23:57:00Z', now)).toBe('3 minutes ago');
  expect(zh.relative('2026-01-01T23:57:00Z', now)).toBe('3分钟前');
});

test('components share what was prepared for their language', () => {
  const [one, other] = [renderHook(useFormat), renderHook(useFormat)];
  expect(one.result.current).toBe(other.result.current);
});

test('days are named by how long ago they are, and then by their date', () => {
  const now = new Date(2026, 0, 2, 1).getTime();
  const days = (locale: string) =>
    [new Date(2026, 0, 2, 0, 30), new Date(2026, 0, 1, 23), new Date(2025, 11, 31, 23)].map((at) =>
      createFormat(locale).day(at, now),
    );
  expect(days('en')).toEqual(['Today', 'Yesterday', 'Dec 31, 2025']);
  expect(days('zh')).toEqual(['今天', '昨天', '2025年12月31日']);
});
