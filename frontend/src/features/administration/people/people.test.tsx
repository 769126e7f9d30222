import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { UnitsPage } from '../units/UnitsPage';
import { PeoplePage } from './PeoplePage';

const administrator = () =>
  serve('GET', 'auth/session/', {
    authenticated: true,
    user: { id: 'u', username: 'root', full_name: '', is_admin: true, administers_units: true, language: 'en' },
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
