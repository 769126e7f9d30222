import { expect, test } from 'vitest';
import { completionOf, type KnownValues } from './queryCompletion';

const known: KnownValues = {
  labels: ['cat', 'dog'],
  splits: ['train', 'val'],
  mediaTypes: ['image/png'],
  classes: ['car', 'care home', "driver's seat", '行人'],
};
const offered = (text: string, caret = text.length) => completionOf(text, caret, known)?.options ?? [];

test('columns of objects are offered where a column may stand', () => {
  expect(offered('obj')).toContain('objects.label');
  expect(offered('objects.a')).toEqual(['objects.area', 'objects.attributes.']);
  expect(offered("label = 'cat' AND objects.k")).toEqual(['objects.kind']);
  expect(offered('NOT (OBJECTS.W')).toEqual(['objects.width']);
  expect(offered('size 1')).toEqual([]);
});

test('counts are offered by class, and names that are no word are quoted', () => {
  expect(offered('objects.counts.ca')).toEqual(['objects.counts.car']);
  expect(offered('objects.counts.')).toContain('objects.counts.car');
  expect(offered('objects.counts.')).toContain('objects.counts."care home"');
});

test('values are those that the version holds', () => {
  expect(offered('objects.label = ')).toEqual(["'car'", "'care home'", "'driver''s seat'", "'行人'"]);
  expect(offered("objects.label = 'CAR")).toEqual(["'car'", "'care home'"]);
  expect(offered("objects.label IN ('car', 'd")).toEqual(["'driver''s seat'"]);
  expect(offered("objects.label = 'driver''")).toEqual(["'driver''s seat'"]);
  expect(offered("objects.kind <> 'poly")).toEqual(["'polygon'", "'polyline'"]);
  expect(offered('objects.ignore = t')).toEqual(['TRUE']);
  expect(offered('label = d')).toEqual(["'dog'"]);
  expect(offered('split IN (')).toEqual(["'train'", "'val'"]);
  expect(offered("media_type LIKE 'im")).toEqual(["'image/png'"]);
});

test('inside a text only a value is offered, and nothing for a column without known values', () => {
  expect(offered("path = 'obj")).toEqual([]);
  expect(offered('objects.area = ')).toEqual([]);
  expect(offered("name LIKE 'AND obj")).toEqual([]);
});

test('the text before the caret counts, and what it begins with is replaced', () => {
  const text = 'objects.la AND size > 1';
  expect(completionOf(text, 10, known)).toEqual({ from: 0, options: ['objects.label'] });
  expect(completionOf("label = 'ca", 11, known)?.from).toBe(8);
});
