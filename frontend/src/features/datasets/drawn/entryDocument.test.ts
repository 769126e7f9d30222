import { expect, test } from 'vitest';
import { outlineOf } from '@/shared/domain/drawn/shapes';
import { documentOf } from './entryDocument';

const annotations = (objects: object[]) => ({
  ...{ width: 640, height: 480, source: 'human', source_model: null, revision: 1, annotator: 'a1' },
  ...{ agreement: null, audit_state: null, labels: [], attributes: {}, objects_total: objects.length },
  objects: objects as Record<string, unknown>[],
});

test('an object of a list is drawn by its bounds', () => {
  const object = { id: '01', label: 'car', kind: 'polygon', bounds: [1, 2, 3, 4], area: 6 };
  const [drawn] = documentOf(annotations([object])).objects;
  expect(drawn && outlineOf(drawn)).toBe('M1 2L4 2L4 6L1 6Z');
});

test('an object with its geometry is drawn as it is', () => {
  const rings = [[0, 0, 9, 0, 9, 9]];
  const object = { id: '01', label: 'car', kind: 'polygon', bounds: [0, 0, 9, 9], parts: [rings] };
  const [drawn] = documentOf(annotations([object])).objects;
  expect(drawn && outlineOf(drawn)).toBe('M0 0L9 0L9 9Z');
});

test('a point of a list stays a point', () => {
  const object = { id: '01', label: 'tip', kind: 'point', bounds: [5, 6, 0, 0], area: 0 };
  expect(documentOf(annotations([object])).objects).toMatchObject([{ kind: 'point', points: [5, 6] }]);
});
