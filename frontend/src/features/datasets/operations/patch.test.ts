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

test('a row without a name and a name that comes twice are wrong', () => {
  const row = (name: string) => ({ name, value: '1' });
  expect(rowErrors([row('a'), row(''), row('b'), row(' a')])).toEqual({ 1: 'attributeMissing', 3: 'attributeTwice' });
});
