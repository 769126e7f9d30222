import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ProjectMembersPage } from './ProjectMembersPage';

const member = (username: string, extra: object = {}) => ({
  id: `id-${username}`,
  username,
  full_name: '',
  email: '',
  is_active: true,
  role: 'viewer',
  direct_role: 'viewer',
  sources: [{ role: 'viewer', through: null }],
  ...extra,
});
const open = () => renderPage(<ProjectMembersPage />, '/settings/members', '/settings/members');

test('a member shows the role that counts and where it is from', async () => {
  const through = { id: 'u1', name: 'Vision' };
  serve(
    'GET',
    'projects/{project}/members/',
    listing(
      member('ada', { role: 'admin', direct_role: 'admin', sources: [{ role: 'admin', through: null }] }),
      member('bo', { role: 'researcher', direct_role: null, sources: [{ role: 'researcher', through }] }),
    ),
  );
  const { container } = await open();
  const row = (await screen.findByText('bo')).closest('tr') as HTMLElement;
  within(row).getByText('Researcher, through');
  expect(within(row).getByRole('link', { name: 'Vision' }).getAttribute('href')).toContain('/settings/units/u1');
  expect(within(row).queryByRole('button', { name: 'Remove bo' })).toBeNull();
  screen.getByRole('button', { name: 'Remove ada' });
  await expectNoViolations(container);
});

test('somebody is added by name, and a refusal stands at its field', async () => {
  serve('GET', 'projects/{project}/members/', listing());
  serve('GET', 'projects/{project}/candidates/', []);
  serve('POST', 'projects/{project}/members/', (request: Request) =>
    request.url ? problem(409, 'already_member', 'This person has a role here already.') : null,
  );
  await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Add member' }));
  const dialog = await screen.findByRole('dialog');
  await userEvent.type(within(dialog).getByRole('combobox', { name: 'User name' }), ' mia ');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Add member' }));
  await within(dialog).findByText('This person has a role here already.');
  const posted = sent.find(({ line }) => line.startsWith('POST') && line.endsWith('/members/'));
  await waitFor(() => expect(posted?.body).toEqual({ username: 'mia', role: 'viewer' }));
});
