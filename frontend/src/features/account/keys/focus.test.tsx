import { Notifications, notifications } from '@mantine/notifications';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { S3KeysPage, TokensPage } from '../index';

const key = (name: string) => ({
  id: name,
  name,
  prefix: 'abc',
  scopes: ['read'],
  project: 'vision',
  access_key_id: `AKIA${name}`,
  last_used_at: null,
  expires_at: null,
  created_at: '2026-01-01T00:00:00Z',
});

afterEach(() => notifications.clean());

const focused = () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent;

test('a new token has the focus on its copy button, which does not read it out', async () => {
  serve('GET', 'tokens/', listing());
  serve('POST', 'tokens/', { ...key('ci'), secret: 'atom_abc_secret' });
  await renderPage(<TokensPage />, '/settings/tokens?create=yes', '/settings/tokens');
  const dialog = await screen.findByRole('dialog', { name: 'New token' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'ci{Enter}');
  await within(dialog).findByText('atom_abc_secret');
  await eventually(() => expect(focused()).toBe('Copy Token'));
  await expectNoViolations(dialog);
});

test('a new S3 key has the focus on the copy button of its secret', async () => {
  serve('GET', 's3-keys/', listing());
  serve('POST', 's3-keys/', { ...key('rclone'), secret_access_key: 'hush', endpoint: 'http://s3' });
  await renderPage(<S3KeysPage />, '/settings/s3-keys?create=yes', '/settings/s3-keys');
  const dialog = await screen.findByRole('dialog', { name: 'New S3 key' });
  // The current project, though the projects are known later than the form is shown.
  await eventually(() =>
    expect((within(dialog).getByRole('combobox', { name: 'Project' }) as HTMLInputElement).value).toBe('Vision'),
  );
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'rclone');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Create key' }));
  await within(dialog).findByText('hush');
  expect(sent.find(({ line }) => line.startsWith('POST'))?.body).toMatchObject({ name: 'rclone', project: 'vision' });
  await eventually(() => expect(focused()).toBe('Copy Secret access key'));
});

test('after Revoke the focus is at the next key, then at the one before, then at what makes a new one', async () => {
  serve('GET', 'tokens/', listing(key('a'), key('b'), key('c')));
  const page = (
    <>
      <Notifications />
      <TokensPage />
    </>
  );
  await renderPage(page, '/settings/tokens', '/settings/tokens');
  const revoke = async (name: string) =>
    await userEvent.click(await screen.findByRole('button', { name: `Revoke ${name}` }));
  await revoke('b');
  expect(focused()).toBe('Revoke c');
  await revoke('c');
  expect(focused()).toBe('Revoke a');
  await revoke('a');
  expect(focused()).toBe('New token');
  expect(document.activeElement?.isConnected).toBe(true);
});
