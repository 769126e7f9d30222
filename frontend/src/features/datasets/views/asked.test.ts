import { expect, test } from 'vitest';
import { browseSearch } from '../search';
import { askedBy, asksSomething } from './asked';

const asked = (search: object, viewQuery?: string) =>
  askedBy(browseSearch(search as Record<string, unknown>), viewQuery);

test('every filter of the page is part of the question', () => {
  expect(asked({ where: 'size > 1', label: "cat's", split: 'test', path: 'a/' })).toEqual({
    where: "(size > 1) AND (label = 'cat''s') AND (split = 'test')",
    prefix: 'a/',
  });
  expect(asked({ labelled: false }).where).toBe('label IS NULL');
  expect(asked({ where: 'a OR b' }, 'c OR d').where).toBe('(c OR d) AND (a OR b)');
});

test('a page without filters asks nothing', () => {
  expect(asksSomething(asked({ ref: 'v1', layout: 'list' }))).toBe(false);
  expect(asksSomething(asked({ path: 'a/' }))).toBe(true);
});
