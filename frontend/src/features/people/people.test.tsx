import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AccountPage } from './account/AccountPage';
import { PeoplePage } from './installation/PeoplePage';
import { ProjectMembersPage } from './members/ProjectMembersPage';
import { UnitsPage } from './units/UnitsPage';

const FACTOR = {
  is_on: true,
  confirmed_at: '2026-01-01T00:00:00Z',
  recovery_codes_left: 10,
  is_demanded: false,
  has_password: true,
};
const administrator = () =>
  serve('GET', 'auth/session/', {
    authenticated: true,
    user: { id: 'u', username: 'root', full_name: '', is_admin: true, administers_units: true, language: 'en' },
  });
const openTab = (name: string) =>
  renderPage(<ProjectMembersPage />, `/settings/members?tab=${name}`, '/settings/members');

test('without a mail server the link is there to copy, and the page says why', async () => {
  const made = {
    id: 'i',
    email: 'mia@example.org',
    role: 'viewer',
    invited_by: 'alice',
    expires_at: '2030-01-01T00:00:00Z',
    mailed_at: null,
    created_at: '2026-01-01T00:00:00Z',
  };
  serve('GET', 'projects/{project}/invitations/', listing());
  serve('POST', 'projects/{project}/invitations/', { ...made, link: 'http://atom/invite/abc', mail: 'off' });
  await openTab('invitations');
  await screen.findByText('Nobody is invited');
  await userEvent.click(screen.getByRole('button', { name: 'Invite' }));
  const dialog = await screen.findByRole('dialog');
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'E-mail' }), 'mia@example.org');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Invite' }));
  await within(dialog).findByText('http://atom/invite/abc');
  within(dialog).getByText(/This installation sends no mail/);
  // It cannot be shown again: only a press on purpose closes it.
  expect(within(dialog).queryByRole('button', { name: 'Close' })).toBeNull();
  await userEvent.keyboard('{Escape}');
  await userEvent.click(document.querySelector('.mantine-Modal-inner') as Element);
  within(dialog).getByText('http://atom/invite/abc');
  const body = sent.find(({ line }) => line.startsWith('POST'))?.body;
  expect(body).toEqual({ email: 'mia@example.org', role: 'viewer', days: 7 });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Done' }));
  await waitFor(() => expect(screen.queryByText('http://atom/invite/abc')).toBeNull());
});

test('service accounts are listed apart, with their tokens', async () => {
  const account = {
    id: 's',
    name: 'ci',
    username: 'ci@vision',
    role: 'researcher',
    is_active: true,
    token_count: 2,
    last_used_at: null,
    created_at: '2026-01-01T00:00:00Z',
  };
  serve('GET', 'projects/{project}/service-accounts/', listing(account));
  serve('GET', 'projects/{project}/service-accounts/{id}/tokens/', listing());
  const { container } = await openTab('service');
  await userEvent.click(await screen.findByRole('button', { name: 'Tokens of ci@vision' }));
  const dialog = await screen.findByRole('dialog');
  await within(dialog).findByText('No tokens');
  await expectNoViolations(container);
});

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

test('all people are for administrators of the installation', async () => {
  await renderPage(<PeoplePage />, '/settings/people', '/settings/people');
  await screen.findByText(/^Only administrators of the installation see all people. An administrator of the install/);
  expect(screen.getByRole('link', { name: 'Go to the overview' }).getAttribute('href')).toBe('/');
  expect(sent.some(({ line }) => line.endsWith('/people/'))).toBe(false);
});

test('a link for a new password is made and shown', async () => {
  administrator();
  serve('GET', 'people/', (_: Request, url: URL) =>
    url.searchParams.get('state') === 'inactive'
      ? listing()
      : listing({
          id: 'p',
          username: 'mia',
          full_name: 'Mia',
          email: '',
          is_active: true,
          is_admin: false,
          has_second_factor: true,
          role_count: 1,
          session_count: 0,
          last_seen_at: null,
          date_joined: '2026-01-01T00:00:00Z',
        }),
  );
  serve('POST', 'people/{id}/reset-link/', { link: 'http://atom/reset/xyz' });
  await renderPage(<PeoplePage />, '/settings/people', '/settings/people');
  await userEvent.click(await screen.findByRole('button', { name: 'Actions: mia' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Link for a new password' }));
  await screen.findByText('http://atom/reset/xyz');
  screen.getByText('2 factors');
});

test('the tree shows each unit below the one that it belongs to', async () => {
  administrator();
  const unit = (id: string, depth: number, parent: string | null) => ({
    id,
    name: id,
    organisation: { id: 'o', name: 'Org' },
    parent,
    depth,
    role: 'admin',
    unit_count: 1,
    project_count: 0,
    created_at: '2026-01-01T00:00:00Z',
  });
  serve('GET', 'units/', listing(unit('Top', 0, null), unit('Team', 1, 'Top')));
  const { container } = await renderPage(<UnitsPage />, '/settings/units', '/settings/units');
  const link = await screen.findByRole('link', { name: 'Team' });
  expect(link.getAttribute('href')).toContain('/settings/units/Team');
  await waitFor(() => screen.getByRole('button', { name: 'New project' }));
  await expectNoViolations(container);
});
