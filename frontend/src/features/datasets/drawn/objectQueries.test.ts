import { expect, test } from 'vitest';
import { ANNOTATED, classQuery, withCondition } from './objectQueries';

test('a quote in a class is doubled', () => {
  expect(classQuery("driver's cab")).toBe("objects.label = 'driver''s cab'");
});

test('another choice of the filter takes the place of the one before', () => {
  expect(withCondition(classQuery("driver's cab"), ANNOTATED)).toBe(ANNOTATED);
  expect(withCondition(undefined, ANNOTATED)).toBe(ANNOTATED);
});

test('a query that a person wrote stays, in brackets of its own', () => {
  const where = "split = 'val' OR size > 5";
  expect(withCondition(where, classQuery('car'))).toBe(`(${where}) AND (objects.label = 'car')`);
  const two = "objects.label = 'car' OR label = 'x'";
  expect(withCondition(two, ANNOTATED)).toBe(`(${two}) AND (${ANNOTATED})`);
});
