import { expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { mayRetry, retryDelayMs } from './queryClient';

const failure = (status: number, code: string, retryAfterS: number | null = null) =>
  new ApiError({ status, code, title: '', retryAfterS });

test('a service that is starting again is waited for, as long as the server says', () => {
  const away = failure(503, 'unavailable', 3);
  expect(mayRetry(20, away)).toBe(true);
  expect(retryDelayMs(20, away)).toBe(3000);
});

test('a defect is tried again a few times, a refusal never', () => {
  expect([0, 1, 2].map((failures) => mayRetry(failures, failure(500, 'internal_error')))).toEqual([true, true, false]);
  expect(mayRetry(0, failure(404, 'not_found'))).toBe(false);
  expect(retryDelayMs(1, failure(500, 'internal_error'))).toBe(2000);
});
