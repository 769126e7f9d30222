import { expect, test } from 'vitest';
import type { WarmChoice } from '@/api/contract/datasets';
import { emptyForm, isCopies, isDays, isHours, isRate, missingBytes, planOf, scheduleOf } from './newPlan';
import { progressOf } from './progress';
import { choice, nodeChoice, part, plan } from './warmup.fixtures';

const CHOICE = choice(
  nodeChoice('n1', { bytes_present: 2 ** 29 }),
  nodeChoice('n2'),
  nodeChoice('n3', { is_reporting: false }),
) as WarmChoice;

test('a form without limits asks for one copy in the first cluster that takes plans', () => {
  const idle = { cluster: 'west', nodes: [] };
  expect(planOf(emptyForm([idle, CHOICE]), 0)).toEqual({ cluster: 'east', copies: 1, pinned: false });
});

test('megabytes and hours become bytes and a time', () => {
  const form = { ...emptyForm([CHOICE]), where: 'nodes' as const, nodes: ['n2'], rate: '1.5', hours: '2' };
  expect(planOf(form, 0)).toEqual({
    cluster: 'east',
    nodes: ['n2'],
    rate_bytes_s: 1_500_000,
    deadline: '1970-01-01T02:00:00.000Z',
    pinned: false,
  });
});

test('days and pins say how long the version stays', () => {
  const days = { ...emptyForm([CHOICE]), stays: 'days' as const, days: '1.5' };
  expect(planOf(days, 0)).toMatchObject({ keep_until: '1970-01-02T12:00:00.000Z', pinned: false });
  expect(scheduleOf(days, 'main')).toMatchObject({ keep_s: 129_600 });
  const pinned = planOf({ ...days, stays: 'pinned' }, 0);
  expect(pinned.pinned).toBe(true);
  expect(pinned).not.toHaveProperty('keep_until');
  expect(scheduleOf({ ...days, stays: 'free' }, 'main')).not.toHaveProperty('keep_s');
  expect(['', '0', '0.01', '366', '367', 'x'].map(isDays)).toEqual([false, false, true, true, false, false]);
});

test.each([
  ['', true],
  ['0.5', true],
  ['0', false],
  ['-1', false],
  ['9000', false],
  ['x', false],
])('hours %j', (text, isRight) => expect(isHours(text)).toBe(isRight));

test('rates and copies are checked', () => {
  expect([isRate(''), isRate('200'), isRate('0'), isRate('1e3')]).toEqual([true, true, false, false]);
  expect([isCopies('2', 2), isCopies('3', 2), isCopies('', 2), isCopies('1.5', 2)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('the missing bytes are those of the chosen nodes', () => {
  expect(missingBytes(CHOICE, ['n1', 'n2'])).toBe(2 ** 29 + 2 ** 30);
  expect(missingBytes(CHOICE, [])).toBe(0);
});

test('replaced nodes count no bytes, and the slowest node gives the time left', () => {
  const nodes = [part('a'), part('b', { eta_s: 9 }), part('c', { state: 'replaced', failures: 2 })];
  const progress = progressOf(plan({ nodes }) as Parameters<typeof progressOf>[0]);
  expect(progress).toMatchObject({ bytesTotal: 2 ** 31, etaS: 9, nodes: 2, nodesDone: 0, failures: 2 });
  expect(progress.rate).toBe(200 * 2 ** 20);
});

test('a schedule names its branch, its times and their zone', () => {
  const form = { ...emptyForm([CHOICE]), when: 'times' as const, hours: '1', priority: '80', timezone: 'UTC' };
  expect(scheduleOf(form, 'main')).toEqual({
    ref: 'main',
    cluster: 'east',
    copies: 1,
    priority: 80,
    deadline_s: 3600,
    cron: '0 3 * * *',
    timezone: 'UTC',
  });
});
