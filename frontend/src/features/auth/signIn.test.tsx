import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { LoginPage } from './index';
import { SecondFactorPage } from './SecondFactorPage';

const open = (search = '') => renderPage(<LoginPage />, `/login${search}`, '/login');
const wrong = () =>
  new Response(JSON.stringify({ status: 400, code: 'invalid', title: 'x', errors: { code: ['The code is wrong.'] } }), {
    status: 400,
    headers: { 'content-type': 'application/problem+json' },
  });

test('after the password a code is asked for where the account has a second factor', async () => {
  serve('POST', 'auth/login/', problem(401, 'second_factor_required', 'A code is missing.'));
  await open();
  await userEvent.type(screen.getByLabelText(/Username/), 'mia');
  await userEvent.type(screen.getByLabelText(/^Password/), 'secret');
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  await screen.findByRole('heading', { name: 'Enter a code' });
  expect(screen.queryByText('The username or the password is wrong.')).toBeNull();
});

test('a refusal goes with the next input, how long to wait does not', async () => {
  serve('POST', 'auth/login/', problem(401, 'bad_credentials', 'Wrong.'));
  await open();
  const password = screen.getByLabelText(/^Password/);
  await userEvent.type(screen.getByLabelText(/Username/), 'mia');
  await userEvent.type(password, 'secret');
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  await screen.findByText('The username or the password is wrong.');
  await userEvent.type(password, '2');
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  serve('POST', 'auth/login/', problem(429, 'throttled', 'Too often.'));
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  await screen.findByRole('alert');
  await userEvent.type(password, '3');
  expect(screen.getByRole('alert').textContent).toContain('Too many');
});

test('what is wrong with the name stands at it, and goes with the next input', async () => {
  const errors = { username: ['Ensure this field has no more than 150 characters.'] };
  serve('POST', 'auth/login/', () =>
    Response.json({ status: 400, code: 'invalid', title: 'Wrong', errors }, { status: 400 }),
  );
  await open();
  await userEvent.type(screen.getByLabelText(/Username/), 'mia');
  await userEvent.type(screen.getByLabelText(/^Password/), 'secret');
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  await screen.findByText('Ensure this field has no more than 150 characters.');
  expect(screen.getByLabelText(/Username/).getAttribute('aria-invalid')).toBe('true');
  expect(screen.queryByRole('alert')).toBeNull();
  await userEvent.type(screen.getByLabelText(/Username/), '2');
  expect(screen.queryByText(/no more than 150/)).toBeNull();
});

test('a wrong code stands at its field; what is over says so', async () => {
  serve('POST', 'auth/login/code/', wrong);
  const { container } = await open('?step=code');
  await userEvent.type(screen.getByRole('textbox', { name: /Code/ }), '123456');
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  await screen.findByText('The code is wrong.');
  expect(sent.at(-1)?.body).toEqual({ code: '123456' });
  serve('POST', 'auth/login/code/', problem(410, 'sign_in_over', 'This sign-in is not valid any more.'));
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  await screen.findByText('This sign-in is not valid any more.');
  await expectNoViolations(container);
  await userEvent.type(screen.getByRole('textbox', { name: /Code/ }), '7');
  expect(screen.queryByText('This sign-in is not valid any more.')).toBeNull();
});

test('the provider has a button that leads back to where one was', async () => {
  serve('GET', 'auth/oidc/', { is_on: true, provider: 'Example' });
  const { container } = await open('?next=%2Fruns%3Fstate%3Ddone&failed=sso_nobody');
  const button = await screen.findByRole('link', { name: 'Sign in with Example' });
  expect(button.getAttribute('href')).toBe('/api/v1/auth/oidc/start/?next=%2Fruns%3Fstate%3Ddone');
  screen.getByText(/There is no account for you here yet/);
  await expectNoViolations(container);
});

test('who lacks a second factor that is demanded sets one up first', async () => {
  const off = { is_on: false, confirmed_at: null, recovery_codes_left: 0, is_demanded: true, has_password: true };
  serve('GET', 'auth/second-factor/', off);
  serve('POST', 'auth/second-factor/', {
    secret: 'ABCDEFGH',
    uri: 'otpauth://x',
    picture: 'data:image/svg+xml,%3Csvg/%3E',
  });
  serve('POST', 'auth/second-factor/confirm/', { recovery_codes: ['aaaa-bbbb-cccc-dddd', 'eeee-ffff-gggg-hhhh'] });
  const { container } = await renderPage(<SecondFactorPage />, '/second-factor', '/second-factor');
  await userEvent.type(await screen.findByLabelText(/Your password/), 'secret');
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
  await screen.findByText('ABCD EFGH');
  screen.getByRole('img', { name: 'QR code of the secret that stands below it' });
  await expectNoViolations(container);
  await userEvent.type(screen.getByRole('textbox', { name: /six digits/ }), '123456');
  await userEvent.click(screen.getByRole('button', { name: 'Turn on' }));
  await screen.findByText(/aaaa-bbbb-cccc-dddd/);
  await expectNoViolations(container);
});
