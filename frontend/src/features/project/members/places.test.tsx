import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ProjectMembersPage } from './ProjectMembersPage';

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
  await screen.findByText('No open invitations');
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
