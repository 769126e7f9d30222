import { expect, test } from 'vitest';
import { visible } from './visible';

test.each([
  ['photo\u202egnp.exe', 'photo\\u202egnp.exe'],
  ['a\u2066b\u2069\u200f.txt', 'a\\u2066b\\u2069\\u200f.txt'],
  ['line\nbreak', 'line\\u000abreak'],
  // Scripts that are read from the right, and joined pictures, stay as they are.
  ['صورة.png', 'صورة.png'],
  ['深い 👩\u200d🚀.png', '深い 👩\u200d🚀.png'],
])('%j is shown as %j', (name, shown) => {
  expect(visible(name)).toBe(shown);
});
