import { act, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { renderPage } from '@/test/render';
import { RelativeTime } from './RelativeTime';
import { Elapsed } from './values';

const START = Date.parse('2026-01-02T00:00:00Z');
beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ['Date', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (seconds: number) => act(() => vi.advanceTimersByTime(seconds * 1000));

test('a time goes on while it is looked at', async () => {
  await renderPage(<RelativeTime at="2026-01-01T23:59:57Z" />);
  expect(screen.getByRole('time').textContent).toBe('3 seconds ago');
  pass(5);
  expect(screen.getByRole('time').textContent).toBe('8 seconds ago');
  pass(180);
  expect(screen.getByRole('time').textContent).toBe('3 minutes ago');
});

test('a time that nobody looked at for a while is right at once', async () => {
  const first = await renderPage(<RelativeTime at="2026-01-01T23:59:57Z" />);
  first.unmount();
  pass(40);
  await renderPage(<RelativeTime at="2026-01-01T23:59:57Z" />);
  expect(screen.getByRole('time').textContent).toBe('43 seconds ago');
});

test('what runs counts on, what is over rests', async () => {
  await renderPage(
    <>
      <Elapsed from="2026-01-01T23:59:00Z" />
      <Elapsed from="2026-01-01T23:59:00Z" to="2026-01-01T23:59:30Z" />
    </>,
  );
  pass(15);
  expect(screen.getByText('1m 15s')).toBeTruthy();
  expect(screen.getByText('30s')).toBeTruthy();
});
