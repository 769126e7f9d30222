import { expect, test, vi } from 'vitest';
import { api } from '@/api/client';
import { confirmUndo } from '@/shared/ui/undo';
import { sent, serve } from '@/test/fakeApi';
import { signOut } from './session';

test('what was confirmed before signing out is done while there is still a session', async () => {
  const answered: string[] = [];
  serve('DELETE', 'tokens/{token_id}/', async () => {
    await new Promise((done) => setTimeout(done, 20));
    answered.push('revoked');
    return {};
  });
  serve('POST', 'auth/logout/', () => {
    answered.push('signed out');
    return {};
  });
  const rollback = vi.fn();
  confirmUndo({
    message: 'Token ci is revoked in a few seconds',
    commit: () => api.DELETE('/api/v1/tokens/{token_id}/', { params: { path: { token_id: 't1' } } }),
    rollback,
    delayMs: 60_000,
  });
  await signOut();
  expect(answered).toEqual(['revoked', 'signed out']);
  expect(rollback).not.toHaveBeenCalled();
  expect(sent.filter(({ line }) => line.startsWith('DELETE'))).toHaveLength(1);
});
