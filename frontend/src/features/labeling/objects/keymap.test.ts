import { expect, test } from 'vitest';
import {
  commandOfPress,
  DEFAULT_KEYS,
  holderOfKey,
  isOfBrowser,
  keymapOf,
  nameOfPress,
  shownKey,
  storedKeymap,
} from './keymap';

const press = (key: string, held: object = {}) => ({ key, shiftKey: false, ctrlKey: false, metaKey: false, ...held });

test('a press has one name, whatever the case of its letter', () => {
  expect(nameOfPress(press('z', { ctrlKey: true }))).toBe('mod+Z');
  expect(nameOfPress(press('Z', { metaKey: true, shiftKey: true }))).toBe('mod+Shift+Z');
  expect(nameOfPress(press('Enter', { shiftKey: true }))).toBe('Shift+Enter');
  expect(nameOfPress(press('?', { shiftKey: true }))).toBe('?');
});

test('no two commands begin with one key', () => {
  const keys = Object.values(DEFAULT_KEYS);
  expect(new Set(keys).size).toBe(keys.length);
});

test('a changed key counts, and the old one means nothing', () => {
  const keymap = keymapOf(storedKeymap({ ...keymapOf(''), skip: 'X' }));
  expect(commandOfPress(press('x'), keymap)).toBe('skip');
  expect(commandOfPress(press('s'), keymap)).toBeNull();
  expect(commandOfPress(press('z', { ctrlKey: true, shiftKey: true }), keymap)).toBe('redo');
});

test('keys that cannot be read, or that name no command, change nothing', () => {
  for (const stored of ['{', 'null', '{"skip": 3, "fly": "F"}', '[]']) expect(keymapOf(stored)).toEqual(DEFAULT_KEYS);
});

test('keys that browsers keep are known, those of the first keymap are not among them', () => {
  expect(isOfBrowser(nameOfPress(press('w', { ctrlKey: true })))).toBe(true);
  expect(isOfBrowser('F5')).toBe(true);
  expect(Object.values(DEFAULT_KEYS).filter(isOfBrowser)).toEqual([]);
  expect(shownKey('mod+Z')).toBe('Ctrl+Z');
});

test('a key that is taken names its holder', () => {
  const labels = [{ name: 'car', hotkey: 'q' }];
  expect(holderOfKey('Enter', 'skip', keymapOf(''), labels)).toEqual({ command: 'submit' });
  expect(holderOfKey('Q', 'skip', keymapOf(''), labels)).toEqual({ label: 'car' });
  expect(holderOfKey('S', 'skip', keymapOf(''), labels)).toBeNull();
});
