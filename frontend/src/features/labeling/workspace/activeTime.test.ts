import { expect, test } from 'vitest';
import { ActiveTime } from './activeTime';

test('counts the time between actions, but not a coffee', () => {
  const time = new ActiveTime();
  time.touch(0);
  time.touch(2000);
  time.touch(600_000);
  expect(time.take(601_000)).toBe(2000 + 15_000 + 1000);
  expect(time.take(601_500)).toBe(500);
});
