import { expect, test } from 'vitest';
import {
  newAttribute,
  newLabel,
  newRelation,
  ontologyOf,
  possibleParents,
  withChoices,
  withoutEnd,
  withoutLabel,
  withPoints,
} from './ontologyDraft';

const vehicle = newLabel([], { name: 'vehicle' });
const car = newLabel([vehicle], { name: 'car', parent: vehicle.id });
const van = newLabel([vehicle, car], { name: 'van', parent: car.id });
const labels = [vehicle, car, van];

test('ids of labels and attributes are never used twice', () => {
  expect(labels.map(({ id }) => id)).toEqual([1, 2, 3]);
  const attribute = newAttribute([], []);
  const other = newAttribute([{ ...car, attributes: [{ ...attribute, id: 7 }] }], [attribute]);
  expect([attribute.id, other.id]).toEqual([1, 8]);
});

test('neither a label nor one below it can stand above it', () => {
  expect(possibleParents(car, labels).map(({ name }) => name)).toEqual(['vehicle']);
  expect(possibleParents(vehicle, labels)).toEqual([]);
});

test('what stood below a removed label stands alone', () => {
  expect(withoutLabel(labels, car.id).map(({ name, parent }) => [name, parent])).toEqual([
    ['vehicle', null],
    ['van', null],
  ]);
});

test('a relation goes with the last label of one of its ends, and any label stays any', () => {
  const schema = {
    relations: [
      { id: 1, name: 'tows', from: [1, 2], to: null },
      { id: 2, name: 'in', from: [1], to: [2] },
    ],
  };
  expect(withoutEnd(schema, 2).relations).toEqual([{ id: 1, name: 'tows', from: [1], to: null }]);
  expect(newRelation(schema.relations)).toEqual({ id: 3, name: '', from: null, to: null });
  expect(ontologyOf([car], { relations: [{ id: 1, name: ' tows ' }] }).schema.relations?.[0]?.name).toBe('tows');
});

test('a choice keeps its id while others come and go', () => {
  const first = withChoices(newAttribute([], []), ['red', 'blue']);
  const second = withChoices(first, ['blue', 'green']);
  expect(second.choices).toEqual([
    { id: 2, name: 'blue' },
    { id: 3, name: 'green' },
  ]);
});

test('an edge follows its points, and goes with one of them', () => {
  const arm = {
    points: [{ name: 'hand' }, { name: 'elbow' }, { name: 'neck' }],
    edges: [
      [0, 1],
      [1, 2],
    ] as [number, number][],
  };
  expect(withPoints(arm, ['neck', 'elbow'])?.edges).toEqual([[1, 0]]);
  expect(withPoints(arm, [])).toBeNull();
});

test('only what a kind has is sent', () => {
  const attribute = { ...newAttribute([], []), name: ' plate ', kind: 'text' as const, min: 3, pattern: '[A-Z]+' };
  const sent = ontologyOf([{ ...car, attributes: [attribute], skeleton: { points: [{ name: 'a' }], edges: [] } }], {});
  expect(sent.labels[0]?.attributes?.[0]).not.toHaveProperty('min');
  expect(sent.labels[0]).toMatchObject({ skeleton: null, attributes: [{ name: 'plate', pattern: '[A-Z]+' }] });
});
