import { expect, test } from 'vitest';
import { patchOf, rowErrors } from './patch';

test('values are JSON where they can be, and nothing removes', () => {
  const rows = [
    { name: ' camera ', value: 'north' },
    { name: 'iso', value: '800' },
    { name: 'lens', value: '{"mm": 50}' },
    { name: 'old', value: ' ' },
    { name: '', value: 'unnamed' },
  ];
  expect(patchOf(rows)).toEqual({ camera: 'north', iso: 800, lens: { mm: 50 }, old: null });
  expect(patchOf([{ name: ' ', value: '1' }])).toBeNull();
});

test('a row without a name, a name that comes twice and half of a JSON value are wrong', () => {
  const row = (name: string) => ({ name, value: '1' });
  expect(rowErrors(['{"a":', '[1', '{"a": 1}', 'a {', '"x"'].map((value, at) => ({ name: `n${at}`, value })))).toEqual({
    0: 'attributeCutJson',
    1: 'attributeCutJson',
  });
  expect(rowErrors([row('a'), row(''), row('b'), row(' a')])).toEqual({ 1: 'attributeMissing', 3: 'attributeTwice' });
});
