import { expect, test } from 'vitest';
import { createFormat } from '@/shared/ui/format';
import { hoursText } from './hours';

test.each([
  [0, '0'],
  [0.0007, '< 0.001'],
  [0.001, '0.001'],
  [0.10222, '0.1022'],
  [12.4, '12.4'],
  [224_017.6, '224,018'],
])('%d hours read %s', (hours, words) => {
  expect(hoursText(createFormat('en'), hours)).toBe(words);
});
