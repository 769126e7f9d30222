import { expect, test } from 'vitest';
import { changedOf, preLabelledOf } from './preLabelEdits';

test('labels that a person added are no part of the pre-label', () => {
  const edits = { kept: 9, reshaped: 1, relabelled: 1, added: 4, removed: 1 };
  expect([changedOf(edits), preLabelledOf(edits)]).toEqual([3, 12]);
});
