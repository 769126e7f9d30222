import { expect, test } from 'vitest';
import { Rate } from './rate';

test('a rate is that of the last seconds, and none before something has gone', () => {
  const rate = new Rate();
  expect(rate.perSecond).toBeNull();
  rate.note(0, 0);
  rate.note(0, 1000);
  expect(rate.perSecond).toBeNull();
  rate.note(4000, 2000);
  expect(rate.perSecond).toBe(2000);
  // After a long pause only what came since counts.
  rate.note(4000, 60_000);
  rate.note(5000, 61_000);
  expect(rate.perSecond).toBe(1000);
  rate.reset();
  expect(rate.perSecond).toBeNull();
});
