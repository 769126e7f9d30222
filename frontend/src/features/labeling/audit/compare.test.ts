import { expect, test } from 'vitest';
import type { DocumentV2 } from '../canvas/model';
import { object } from '../canvas/testing';
import { differencesOf } from './compare';

const drawn = (...objects: DocumentV2['objects'] & object): DocumentV2 => ({
  version: 2,
  width: 100,
  height: 100,
  objects,
});
const box = (id: string, x: number) => object(id, { kind: 'box', box: [x, 2, 3, 4] });

test('objects are compared by their id, wherever they stand', () => {
  const before = drawn(box('a', 1), box('b', 1), box('c', 1));
  const after = drawn(box('c', 1), box('b', 9), box('d', 1));
  expect(differencesOf(before, after)).toEqual({ added: 1, changed: 1, removed: 1 });
  expect(differencesOf(before, before)).toEqual({ added: 0, changed: 0, removed: 0 });
});
