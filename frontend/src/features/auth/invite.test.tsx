import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { InvitePage } from './InvitePage';
import { ResetPage } from './ResetPage';

const OFFER = {
  place: 'Vision',
  kind: 'project',
  role: 'labeler',
  invited_by: 'Ada',
  email: '',
  expires_at: '2030-01-01T00:00:00Z',
};
const nobody = () => serve('GET', 'auth/session/', { authenticated: false, user: null });
const open = () => renderPage(<InvitePage />, '/invite/abc', '/invite/$token');

test('a link makes an account; what is wrong stands at its field', async () => {
  nobody();
  serve('POST', 'invitations/open/', OFFER);
  serve(
    'POST',
    'invitations/sign-up/',
    () =>
      new Response(
        JSON.stringify({
          status: 400,
          code: 'invalid',
          title: 'x',
          errors: { password: ['This password is too short.'] },
        }),
        { status: 400, headers: { 'content-type': 'application/problem+json' } },
      ),
  );
  const { container } = await open();
  await screen.findByRole('heading', { name: 'You are invited to Vision' });
  screen.getByText('Ada invites you as Labeler');
  await userEvent.type(screen.getByRole('textbox', { name: /Username/ }), 'mia');
  await userEvent.type(screen.getByLabelText(/^Password/), 'short');
  await userEvent.click(screen.getByRole('button', { name: 'Make account and accept' }));
  await screen.findByText('This password is too short.');
  const body = sent.find(({ line }) => line.endsWith('/sign-up/'))?.body;
  expect(body).toEqual({ username: 'mia', full_name: '', email: '', password: 'short', token: 'abc' });
  expect(sent.every(({ line }) => !line.includes('abc'))).toBe(true);
  await expectNoViolations(container);
});

test('who is signed in accepts with one press', async () => {
  serve('POST', 'invitations/open/', OFFER);
  serve('POST', 'invitations/accept/', problem(410, 'invitation_used', 'This invitation has been used already.'));
  await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Accept as alice' }));
  await screen.findByText('This invitation has been used already.');
});

test('a link that is over says so and leads on', async () => {
  nobody();
  serve('POST', 'invitations/open/', problem(410, 'invitation_expired', 'This invitation has expired.'));
  await open();
  await screen.findByText('This invitation has expired.');
  screen.getByRole('link', { name: 'To the sign-in page' });
});

test('a new password is set by its link', async () => {
  nobody();
  serve('POST', 'auth/reset/open/', { username: 'mia' });
  serve('POST', 'auth/reset/', () => new Response(null, { status: 204 }));
  const { container } = await renderPage(<ResetPage />, '/reset/abc', '/reset/$token');
  await screen.findByText('For mia; all sessions end then');
  await userEvent.type(screen.getByLabelText(/^New password/), 'a lamp in the fog');
  await userEvent.click(screen.getByRole('button', { name: 'Set password' }));
  await screen.findByText('Your password is set. Sign in with it.');
  await expectNoViolations(container);
});
