import { expect, test } from 'vitest';
import { experimentOfFragment, runOfFragment } from './useMlflowLink';

const ID = '01a2058fa4ff7b238dbd46890d30db21';

test('a link that the MLflow client prints names its run', () => {
  expect(runOfFragment(`#/experiments/0/runs/${ID}`)).toBe('01a2058f-a4ff-7b23-8dbd-46890d30db21');
  for (const other of ['', '#/experiments/0', '#/experiments/0/runs/x']) expect(runOfFragment(other)).toBeUndefined();
});

test('or its experiment', () => {
  expect(experimentOfFragment('#/experiments/0')).toBe('0');
  expect(experimentOfFragment(`#/experiments/${ID}`)).toBe(ID);
  for (const other of ['', '#/experiments/x', `#/experiments/0/runs/${ID}`])
    expect(experimentOfFragment(other)).toBeUndefined();
});
