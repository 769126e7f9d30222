import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import '@/app/session';
import { ApiError } from '@/api/errors';
import { eventually } from '@/test/eventually';
import { sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ErrorState } from './ErrorState';

const failure = (status: number) => new ApiError({ status, code: `http_${status}`, title: 'It failed' });

test('a page that one may not open leads out of it and is not tried again', async () => {
  serve('POST', 'auth/logout/', {});
  await renderPage(<ErrorState error={failure(403)} onRetry={() => undefined} />);
  const home = await screen.findByRole('link', { name: 'Go to the overview' });
  expect(home.getAttribute('href')).toBe('/');
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Sign in as somebody else' }));
  await eventually(() => expect(sent.some(({ line }) => line.endsWith('auth/logout/'))).toBe(true));
});

test('a server that failed may be asked again', async () => {
  const retry = vi.fn();
  await renderPage(<ErrorState error={failure(500)} onRetry={retry} />);
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(retry).toHaveBeenCalledOnce();
  expect(screen.queryByRole('link', { name: 'Go to the overview' })).toBeNull();
});
