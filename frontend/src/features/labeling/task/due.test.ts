import { expect, test } from 'vitest';
import { isOverdue } from './due';

const due = (due_on: string | null, state = 'active') => ({ due_on, state }) as Parameters<typeof isOverdue>[0];

test('a task is overdue once its day is over where the reader is', () => {
  expect(isOverdue(due('2026-12-24'), new Date(2026, 11, 24, 23, 59))).toBe(false);
  expect(isOverdue(due('2026-12-24'), new Date(2026, 11, 25, 0, 0))).toBe(true);
});

test('neither a finished task nor one without a date is overdue', () => {
  const late = new Date(2027, 0, 1);
  expect(isOverdue(due(null), late)).toBe(false);
  expect(isOverdue(due('2026-12-24', 'published'), late)).toBe(false);
  expect(isOverdue(due('2026-12-24', 'paused'), late)).toBe(true);
});
