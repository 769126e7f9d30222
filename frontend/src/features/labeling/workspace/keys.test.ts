import { expect, test } from 'vitest';
import { commandOf, type KeyPress, labelOfKey } from './keys';

const press = (key: string, with_: Partial<KeyPress> = {}): KeyPress => ({
  key,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  ...with_,
});
const plain = { parent: null, tools: ['classification' as const], attributes: [], skeleton: null, ignore: false };
const labels = [
  { ...plain, id: 7, name: 'cat', color: '#000000', hotkey: '1' },
  { ...plain, id: 8, name: 'dog', color: '#000000', hotkey: 'd' },
  { ...plain, id: 9, name: 'other', color: '#000000', hotkey: '' },
];

test('Enter submits, Shift+Enter goes back', () => {
  expect(commandOf(press('Enter'), 4)).toEqual({ do: 'submit' });
  expect(commandOf(press('Enter', { shiftKey: true }), 4)).toEqual({ do: 'back' });
});

test('undo and redo, the keys of every system', () => {
  expect(commandOf(press('z', { ctrlKey: true }), 4)).toMatchObject({ action: { type: 'undo' } });
  expect(commandOf(press('Z', { metaKey: true, shiftKey: true }), 4)).toMatchObject({ action: { type: 'redo' } });
  expect(commandOf(press('y', { ctrlKey: true }), 4)).toMatchObject({ action: { type: 'redo' } });
});

test('arrows move, with Shift they extend', () => {
  expect(commandOf(press('ArrowDown', { shiftKey: true }), 4)).toMatchObject({
    action: { to: 'down', columns: 4, extend: true },
  });
});

test('a class is found by its key, not with Ctrl', () => {
  expect(labelOfKey(press('1'), labels)?.id).toBe(7);
  expect(labelOfKey(press('D'), labels)?.id).toBe(8);
  expect(labelOfKey(press('d', { ctrlKey: true }), labels)).toBeUndefined();
  expect(labelOfKey(press('x'), labels)).toBeUndefined();
});
