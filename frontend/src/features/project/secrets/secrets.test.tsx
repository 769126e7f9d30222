import { Notifications, notifications } from '@mantine/notifications';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { SecretsPage } from './SecretsPage';

const SECRETS = 'projects/{project}/secrets/';
const HOSTS = 'projects/{project}/git-hosts/';
const secret = (name: string) => ({
  name,
  description: 'reads models',
  set_by: 'ana',
  set_at: '2026-01-01T00:00:00Z',
  last_used_at: null,
  created_at: '2026-01-01T00:00:00Z',
});
const open = (search = '') => {
  serve('GET', HOSTS, listing({ name: 'git.lab', key: 'ssh-ed25519 SHA256:abc', created_at: '2026-01-01T00:00:00Z' }));
  return renderPage(
    <>
      <Notifications />
      <SecretsPage />
    </>,
    `/settings/secrets${search}`,
    '/settings/secrets',
  );
};

afterEach(() => notifications.clean());

test('a secret is kept as it was typed, and what is wrong with its name is said first', async () => {
  serve('GET', SECRETS, listing(secret('HF_TOKEN')));
  serve('PUT', `${SECRETS}{name}/`, secret('WANDB_KEY'));
  const { container } = await open();
  await screen.findByText('HF_TOKEN');
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'New secret' }));
  const dialog = await screen.findByRole('dialog', { name: 'New secret' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), '1st');
  const value = within(dialog).getByRole('textbox', { name: 'Value' });
  await userEvent.type(value, ' two words ');
  const isHidden = () => value.hasAttribute('data-hidden');
  expect(isHidden()).toBe(true);
  await userEvent.click(within(dialog).getByRole('checkbox', { name: 'Show what is typed' }));
  expect(isHidden()).toBe(false);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Keep the secret' }));
  await within(dialog).findByText('Use letters, digits and underscores, no digit first.');
  const name = within(dialog).getByRole('textbox', { name: 'Name' });
  await userEvent.clear(name);
  await userEvent.type(name, 'WANDB_KEY');
  await expectNoViolations(dialog);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Keep the secret' }));
  await screen.findByText('WANDB_KEY is kept');
  expect(sent.find(({ line }) => line.startsWith('PUT'))?.body).toEqual({ value: ' two words ', description: '' });
});

test('a new value keeps what the secret is for', async () => {
  serve('GET', SECRETS, listing(secret('HF_TOKEN')));
  serve('PUT', `${SECRETS}{name}/`, secret('HF_TOKEN'));
  await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Replace the value of HF_TOKEN' }));
  const dialog = await screen.findByRole('dialog', { name: 'New value of HF_TOKEN' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Value' }), 'new');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Replace the value' }));
  await screen.findByText('HF_TOKEN has a new value; runs that start from now on get it');
  expect(sent.find(({ line }) => line.startsWith('PUT'))?.body).toEqual({ value: 'new' });
});

test('a removed secret disappears and can be taken back', async () => {
  serve('GET', SECRETS, listing(secret('HF_TOKEN')));
  await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Remove HF_TOKEN' }));
  await screen.findByText('This project has no secrets');
  await userEvent.click(screen.getByRole('button', { name: /Undo/ }));
  await eventually(() => expect(screen.getByText('HF_TOKEN')).toBeTruthy());
  expect(sent.some(({ line }) => line.startsWith('DELETE'))).toBe(false);
});

test('a secret that is set anew while its removal can be undone stays, and is shown', async () => {
  let there = true;
  serve('GET', SECRETS, () => (there ? listing(secret('HF_TOKEN')) : listing()));
  serve('DELETE', `${SECRETS}{name}/`, () => {
    there = false;
    return {};
  });
  serve('PUT', `${SECRETS}{name}/`, () => {
    there = true;
    return secret('HF_TOKEN');
  });
  await open('?create=yes');
  const dialog = await screen.findByRole('dialog', { name: 'New secret' });
  await userEvent.click(await screen.findByRole('button', { name: 'Remove HF_TOKEN', hidden: true }));
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'HF_TOKEN');
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Value' }), 'new');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Keep the secret' }));
  await screen.findByText('HF_TOKEN is kept');
  await screen.findByRole('button', { name: 'Remove HF_TOKEN' });
  const writes = sent.map(({ line }) => line.split(' ')[0]).filter((method) => method !== 'GET');
  expect(writes).toEqual(['DELETE', 'PUT']);
});
