import { expect, test } from 'vitest';
import { ApiError, asApiError, readApiError } from './errors';

const answer = (body: string, status: number, headers: Record<string, string> = {}) =>
  readApiError(new Response(body, { status, headers }));

test('a problem document becomes an error with its code, advice and fields', async () => {
  const problem = {
    title: 'Some of the values are not valid.',
    code: 'invalid_parameters',
    detail: 'epochs must be positive',
    action: 'Correct the fields.',
    request_id: 'r-1',
    errors: { epochs: ['Must be at least 1.', 'Must be whole.'], resources: { gpus: ['Too many.'] } },
  };
  const error = await answer(JSON.stringify(problem), 400);
  expect(error).toMatchObject({
    status: 400,
    code: 'invalid_parameters',
    requestId: 'r-1',
    action: 'Correct the fields.',
  });
  expect(error.fields).toEqual({ epochs: 'Must be at least 1. Must be whole.', 'resources.gpus': 'Too many.' });
});

test('a page of a proxy still gives a usable error', async () => {
  const error = await answer('<html>Bad gateway</html>', 502, { 'x-request-id': 'r-2' });
  expect(error).toMatchObject({ status: 502, code: 'http_502', requestId: 'r-2' });
});

test('a throttled answer says when to come back', async () => {
  expect((await answer('{}', 429, { 'retry-after': '75' })).retryAfterS).toBe(75);
});

test('an unreachable server and a bug are told apart', () => {
  expect(asApiError(new TypeError('Failed to fetch')).code).toBe('unreachable');
  expect(asApiError(new Error('boom')).code).toBe('client_error');
  const known = new ApiError({ status: 404, code: 'not_found', title: 'Nothing' });
  expect(asApiError(known)).toBe(known);
});
