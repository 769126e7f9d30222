import { expect, test } from 'vitest';
import { pieces, typedName, withName } from './mention';

test('a name is typed after an @ that begins a word', () => {
  expect(typedName('look @b', 7)).toBe('b');
  expect(typedName('@', 1)).toBe('');
  expect(typedName('mail a@b', 8)).toBeNull();
  expect(withName('see @b now', 6, 'bo')).toEqual(['see @bo  now', 8]);
});

test('a comment is cut at the members whom it names, and at nobody else', () => {
  const bo = { username: 'bo', full_name: 'Bo Chen' };
  expect(pieces('Thanks @bo. And @ada?', [bo])).toEqual([
    { text: 'Thanks ' },
    { text: '@bo', who: 'Bo Chen' },
    { text: '. And @ada?' },
  ]);
});
