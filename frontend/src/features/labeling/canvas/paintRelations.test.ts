import { expect, test, vi } from 'vitest';
import { openEditor } from './editor';
import { paintRelations } from './paintRelations';
import { ONTOLOGY, object } from './testing';
import type { ActivePaint } from './tools/tool';

const car = object('car', { kind: 'box', box: [0, 0, 20, 20] });
const plate = object('plate', { kind: 'box', box: [100, 0, 20, 20] }, 2);
const relations = [{ id: 'r', relation: 1, from: 'plate', to: 'car' }];
const editor = openEditor({ version: 2, width: 200, height: 100, objects: [car, plate], relations });

const painted = (hidden: string[], left: string[] = []) => {
  const paint = { line: vi.fn(), handles: vi.fn(), text: vi.fn() };
  paintRelations(paint as unknown as ActivePaint, { ...editor, hidden }, ONTOLOGY, left);
  return paint;
};

test('a relation is a line between its objects with the name of its kind', () => {
  const { line, handles, text } = painted([]);
  expect(line.mock.calls).toEqual([[[110, 10, 10, 10]]]);
  expect(handles.mock.calls).toEqual([[[[10, 10]]]]);
  expect(text.mock.calls).toEqual([[[60, 10], 'belongs to']]);
});

test('it hides with one of its objects', () => {
  expect(painted(['car']).line).not.toHaveBeenCalled();
  expect(painted([], ['plate']).line).not.toHaveBeenCalled();
});
