import { expect, test } from 'vitest';
import { ofSpans, ofText } from './highlight';

test('a text is marked at every place, with or without its case', () => {
  expect(ofText('loss', false)('Loss, loss')).toEqual([
    [0, 4],
    [6, 10],
  ]);
  expect(ofText('loss', true)('Loss, loss')).toEqual([[6, 10]]);
  expect(ofText('', false)('anything')).toEqual([]);
});

test('what the server found is marked behind an emoji too, and nothing is not marked', () => {
  expect(ofSpans([[2, 5]])('😀 nan')).toEqual([[3, 6]]);
  expect(ofSpans([[0, 0]])('abc')).toEqual([]);
});
