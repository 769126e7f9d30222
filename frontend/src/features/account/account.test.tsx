import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AccountPage } from './AccountPage';

const FACTOR = {
  is_on: true,
  confirmed_at: '2026-01-01T00:00:00Z',
  recovery_codes_left: 10,
  is_demanded: false,
  has_password: true,
};

test('one’s own sessions name browsers in plain words and mark this one', async () => {
  const at = '2026-01-01T00:00:00Z';
  const session = (id: string, extra: object) => ({
    id,
    ip_address: '::1',
    created_at: at,
    last_seen_at: at,
    ...extra,
  });
  serve(
    'GET',
    'sessions/',
    listing(
      session('a', { browser: 'Firefox', system: 'Linux', is_current: true }),
      session('b', { browser: '', system: '', is_current: false }),
    ),
  );
  serve('GET', 'auth/second-factor/', { ...FACTOR, recovery_codes_left: 2 });
  const { container } = await renderPage(<AccountPage />, '/settings/account', '/settings/account');
  const mine = (await screen.findByText('Firefox on Linux')).closest('tr') as HTMLElement;
  within(mine).getByText('This one');
  expect(within(mine).queryByRole('button')).toBeNull();
  screen.getByRole('button', { name: 'End the session of Unknown browser' });
  await expectNoViolations(container);
});

test('new recovery codes stay until they are said to be kept', async () => {
  serve('GET', 'sessions/', listing());
  serve('GET', 'auth/second-factor/', FACTOR);
  serve('POST', 'auth/second-factor/recovery-codes/', { recovery_codes: ['one-code', 'two-code'] });
  await renderPage(<AccountPage />, '/settings/account', '/settings/account');
  await userEvent.click(await screen.findByRole('button', { name: 'New recovery codes' }));
  const dialog = await screen.findByRole('dialog');
  await userEvent.type(within(dialog).getByLabelText(/Your password/), 'secret');
  await userEvent.click(within(dialog).getByRole('button', { name: 'New recovery codes' }));
  await within(dialog).findByText(/one-code/);
  await userEvent.keyboard('{Escape}');
  within(dialog).getByText(/one-code/);
  await userEvent.click(within(dialog).getByRole('button', { name: 'I have kept them' }));
  await waitFor(() => expect(screen.queryByText(/one-code/)).toBeNull());
});

test('a second factor is turned off with a code or the password, unless it is demanded', async () => {
  serve('GET', 'sessions/', listing());
  serve('GET', 'auth/second-factor/', FACTOR);
  serve('POST', 'auth/second-factor/off/', () => new Response(null, { status: 204 }));
  await renderPage(<AccountPage />, '/settings/account', '/settings/account');
  await userEvent.click(await screen.findByRole('button', { name: 'Turn off' }));
  const dialog = await screen.findByRole('dialog');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Use a code instead' }));
  await userEvent.type(within(dialog).getByRole('textbox', { name: /Code/ }), '123456');
  serve('GET', 'auth/second-factor/', { ...FACTOR, is_demanded: true });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Turn off' }));
  await screen.findByText('This installation demands one of you.');
  expect(sent.find(({ line }) => line.endsWith('/off/'))?.body).toEqual({ code: '123456' });
  expect(screen.queryByRole('button', { name: 'Turn off' })).toBeNull();
});
