import { expect, test } from 'vitest';
import { slugOf } from './slugOf';

test.each([
  ['Cell Images (2024)', 'cell-images-2024'],
  ['  Été ', 'ete'],
  ['数据', ''],
])('the name %s is %s in addresses', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});
