import { MantineProvider } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { eventually } from '@/test/eventually';
import { confirmUndo, notifyError, notifyWarning } from './undo';

function show(action: { commit: () => unknown; rollback: () => void; delayMs?: number }) {
  render(
    <MantineProvider env="test">
      <Notifications />
    </MantineProvider>,
  );
  confirmUndo({ message: 'Token revoked', ...action });
}

afterEach(() => notifications.clean());

test('undo brings it back, and nothing is committed', async () => {
  const [commit, rollback] = [vi.fn(), vi.fn()];
  show({ commit, rollback, delayMs: 60_000 });
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  // A change that is still pending would be committed now.
  window.dispatchEvent(new Event('pagehide'));
  await eventually(() => expect(rollback).toHaveBeenCalledOnce());
  expect([commit.mock.calls.length, rollback.mock.calls.length]).toEqual([0, 1]);
});

test('after an undo the focus is where it was before the toast was come to', async () => {
  const button = document.body.appendChild(document.createElement('button'));
  show({ commit: vi.fn(), rollback: vi.fn(), delayMs: 60_000 });
  const undo = await screen.findByRole('button', { name: 'Undo' });
  button.focus();
  undo.focus();
  await userEvent.keyboard('{Enter}');
  expect(document.activeElement).toBe(button);
  button.remove();
});

test('without an undo it is committed once', async () => {
  const [commit, rollback] = [vi.fn(), vi.fn()];
  show({ commit, rollback, delayMs: 30 });
  await eventually(() => expect(commit).toHaveBeenCalledOnce());
  expect(rollback).not.toHaveBeenCalled();
});

test('leaving the page commits at once', async () => {
  const commit = vi.fn();
  show({ commit, rollback: vi.fn(), delayMs: 60_000 });
  window.dispatchEvent(new Event('pagehide'));
  await eventually(() => expect(commit).toHaveBeenCalledOnce());
});

test('a commit that fails is rolled back and told', async () => {
  const rollback = vi.fn();
  show({ commit: () => Promise.reject(new Error('refused')), rollback, delayMs: 10 });
  await eventually(() => expect(rollback).toHaveBeenCalledOnce());
  expect(await screen.findByText(/refused/)).toBeTruthy();
});

test('the cross of a toast has a name, and commits', async () => {
  const commit = vi.fn();
  show({ commit, rollback: vi.fn(), delayMs: 60_000 });
  await userEvent.click(await screen.findByRole('button', { name: 'Close' }));
  await eventually(() => expect(commit).toHaveBeenCalledOnce());
});

test('a warning is its words alone', async () => {
  render(
    <MantineProvider env="test">
      <Notifications />
    </MantineProvider>,
  );
  notifyWarning('Two images are gone.');
  expect((await screen.findByRole('alert')).textContent).toBe('Two images are gone.');
});

test('a request without an answer is told in the words of the page, not in those of the browser', async () => {
  render(
    <MantineProvider env="test">
      <Notifications />
    </MantineProvider>,
  );
  notifyError(new TypeError('Failed to fetch'));
  await screen.findByText('The server cannot be reached');
  screen.getByText(/^Check your connection/);
  expect(screen.queryByText(/Failed to fetch/)).toBeNull();
});
