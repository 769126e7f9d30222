import { expect, test } from 'vitest';
import { createFormat } from '@/shared/format';
import { hoursText } from './hours';

test.each([
  [0, '0'],
  [0.0001, '< 0.001'],
  [0.1022, '0.1022'],
  [224_018.4, '224,018'],
])('%s hours are read at a glance', (hours, text) => {
  expect(hoursText(createFormat('en'), hours)).toBe(text);
});
