import { expect, test } from 'vitest';
import { runOfFragment } from './useMlflowLink';

test('a link that the MLflow client prints names its run', () => {
  expect(runOfFragment('#/experiments/0/runs/01a2058fa4ff7b238dbd46890d30db21')).toBe(
    '01a2058f-a4ff-7b23-8dbd-46890d30db21',
  );
  for (const other of ['', '#/experiments/0', '#/experiments/0/runs/x']) expect(runOfFragment(other)).toBeUndefined();
});
