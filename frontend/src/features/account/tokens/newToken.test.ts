import { expect, test } from 'vitest';
import { toNewToken } from './NewTokenForm';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test('days become a moment in time', () => {
  const token = toNewToken({ name: ' laptop ', scopes: ['read'], project: 'vision', days: '30' }, NOW);
  expect(token).toEqual({
    name: 'laptop',
    scopes: ['read'],
    project: 'vision',
    expires_at: '2026-01-31T00:00:00.000Z',
  });
});

test('a token may never expire, and may work in every project', () => {
  const token = toNewToken({ name: 'ci', scopes: ['read', 'write'], project: null, days: 'never' }, NOW);
  expect([token.expires_at, token.project]).toEqual([null, null]);
});
