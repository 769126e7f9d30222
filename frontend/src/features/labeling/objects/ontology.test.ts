import { expect, test } from 'vitest';
import { askedOf, attributesOf, kindsOf, labelTree, missingInDocument, withoutUnasked } from './ontology';
import type { Attribute, DocumentV2, Ontology, OntologyLabel } from './types';

const colour: Attribute = {
  id: 4,
  name: 'colour',
  kind: 'choice',
  required: true,
  choices: [
    { id: 1, name: 'red' },
    { id: 2, name: 'other' },
  ],
};
const which: Attribute = { id: 5, name: 'which', kind: 'text', required: true, when: { attribute: 4, is: [2] } };
const shade: Attribute = { id: 6, name: 'shade', kind: 'flag', when: { attribute: 5, is: [true] } };
const label = (id: number, name: string, extra: Partial<OntologyLabel> = {}): OntologyLabel => ({
  id,
  name,
  color: '#5b6bf0',
  hotkey: '',
  ...extra,
});
const vehicle = label(1, 'vehicle', { tools: ['box'], attributes: [colour, which, shade] });
const car = label(2, 'car', { parent: 1, tools: ['box', 'polygon'] });
const ontology: Ontology = {
  labels: [vehicle, car, label(3, 'night')],
  schema: { attributes: [{ id: 9, name: 'weather', kind: 'text', required: true }] },
};
const document = (attributes?: Record<string, number | string>): DocumentV2 => ({
  version: 2,
  width: 9,
  height: 9,
  objects: [{ id: 'a', label: 2, kind: 'box', box: [0, 0, 1, 1], ...(attributes && { attributes }) }],
});

test('a child has the attributes of its parents', () => {
  expect(attributesOf(2, ontology.labels)).toEqual([colour, which, shade]);
});

test('parents that run in a circle end', () => {
  const [one, two] = [label(1, 'one', { parent: 2 }), label(2, 'two', { parent: 1 })];
  expect(attributesOf(1, [one, two])).toEqual([]);
});

test('the tool bar has the kinds of all labels, and no class of a picture', () => {
  expect(kindsOf(ontology)).toEqual(['box', 'polygon']);
});

test('an attribute is asked for by the value of another, and hidden with it', () => {
  const names = (values: Record<string, number | string>) =>
    askedOf([colour, which, shade], values).map(({ name }) => name);
  expect(names({ 4: 1 })).toEqual(['colour']);
  expect(names({ 4: 2 })).toEqual(['colour', 'which']);
});

test('a value is not submitted without the reason for which it was asked', () => {
  const submitted = withoutUnasked({ ...document({ 4: 1, 5: 'green' }), attributes: { 9: 'rain', 77: 1 } }, ontology);
  expect(submitted).toMatchObject({ objects: [{ attributes: { 4: 1 } }], attributes: { 9: 'rain' } });
  expect(submitted.objects?.[0]?.attributes).not.toHaveProperty('5');
  expect(submitted.attributes).not.toHaveProperty('77');
});

test('values that are required and missing are named by their objects', () => {
  const missing = missingInDocument(document({ 4: 2 }), ontology);
  expect(missing.map(({ object, attribute }) => [object, attribute.name])).toEqual([
    ['a', 'which'],
    [null, 'weather'],
  ]);
  expect(missingInDocument({ ...document({ 4: 1 }), attributes: { 9: 'rain' } }, ontology)).toEqual([]);
});

test('a search keeps children of what matches, and their depth', () => {
  expect(labelTree(ontology.labels, 'VEH').map((row) => [row.label.name, row.depth])).toEqual([
    ['vehicle', 0],
    ['car', 1],
  ]);
  expect(labelTree([car]).map((row) => row.depth)).toEqual([0]);
});
