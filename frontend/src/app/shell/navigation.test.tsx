import { AppShell } from '@mantine/core';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { Rights } from '@/shared/domain/project';
import { expectNoViolations } from '@/test/axe';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { namedPagesFor, navigationFor } from './navigation';
import { Sidebar } from './Sidebar';
import { UserMenu } from './UserMenu';

const NONE: Rights = { admin: false, here: false, runs: false, units: false, installation: false };
const settings = (rights: Partial<Rights>) =>
  navigationFor({ ...NONE, ...rights })
    .flatMap(({ items }) => items)
    .filter(({ key }) => key === 'projectSettings' || key === 'administration')
    .map(({ key, to }) => [key, to]);

test('an entry with tabs leads to the first that the person may open', () => {
  expect(settings({})).toEqual([]);
  expect(settings({ runs: true })).toEqual([['projectSettings', '/settings/secrets']]);
  expect(settings({ runs: true, here: true, admin: true })).toEqual([
    ['projectSettings', '/settings/members'],
    ['administration', '/settings/audit'],
  ]);
  expect(settings({ installation: true })).toEqual([['administration', '/settings/people']]);
});

test('pages of the account are open to everybody, but stand beside the side bar', () => {
  const account = ['/settings/account', '/settings/notifications', '/settings/tokens', '/settings/s3-keys'];
  expect(namedPagesFor(NONE).map(({ to }) => to)).toEqual(expect.arrayContaining(account));
  const shown = navigationFor(NONE).flatMap(({ items }) => items.map(({ to }) => to as string));
  expect(shown.filter((to) => account.includes(to))).toEqual([]);
});

test('a tab marks the entry that it belongs to', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'admin', unit: null }));
  const page = (
    <AppShell>
      <Sidebar onNavigate={() => {}} />
    </AppShell>
  );
  const { container } = await renderPage(page, '/settings/webhooks', '/settings/webhooks');
  const entry = await screen.findByRole('link', { name: 'Project settings' });
  expect(entry.getAttribute('href')).toBe('/settings/members');
  expect(entry.getAttribute('aria-current')).toBe('page');
  expect(screen.getByRole('link', { name: 'Administration' }).getAttribute('aria-current')).toBeNull();
  await expectNoViolations(container);
});

test('the avatar leads to the pages of the account and to the documentation of the API', async () => {
  serve('GET', 'auth/session/', {
    authenticated: true,
    user: { id: 'u', username: 'mia', full_name: 'Mia', is_admin: false, administers_units: false, language: 'en' },
  });
  await renderPage(<UserMenu onShortcuts={() => {}} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Account of Mia' }));
  const entries = await screen.findAllByRole('menuitem');
  expect(entries.map((entry) => [entry.textContent, entry.getAttribute('href')]).slice(0, 5)).toEqual([
    ['Your account', '/settings/account'],
    ['Notification settings', '/settings/notifications'],
    ['Access tokens', '/settings/tokens'],
    ['S3 keys', '/settings/s3-keys'],
    ['API documentation', '/api/v1/docs/'],
  ]);
  await expectNoViolations(document.body);
});
