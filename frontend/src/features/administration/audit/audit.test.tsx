import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { settings } from '@/i18n/settings.en';
import { expectNoViolations } from '@/test/axe';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AuditLogPage } from './AuditLogPage';
import { KINDS } from './ObjectLink';

const event = (verb: string, object_type: string, data: object = {}) => ({
  id: verb,
  at: '2026-01-01T00:00:00Z',
  actor: 'alice',
  verb,
  object_type,
  object_id: '0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
  project: 'vision',
  data,
  request_id: '',
});

test('what an event is about has a word, and no word is for nothing', () => {
  expect(Object.keys(settings.kind).toSorted()).toEqual([...KINDS].toSorted());
});

test('an event leads to what it is about', async () => {
  serve(
    'GET',
    'audit/',
    listing(
      event('run.created', 'run', { name: 'first try' }),
      event('label_task.started', 'labeltask', { name: 'Sort' }),
      event('tag.created', 'tag', { dataset: 'pets', name: 'gold' }),
      event('model.registered', 'modelversion', { model: 'cats', number: 2 }),
      event('token.created', 'apitoken', { name: 'ci' }),
    ),
  );
  const { container } = await renderPage(<AuditLogPage />, '/settings/audit', '/settings/audit');
  const address = async (name: string) => (await screen.findByRole('link', { name })).getAttribute('href');
  expect(await address('first try')).toContain('/runs/0198aaaa');
  expect(await address('Sort')).toContain('/labeling/0198aaaa');
  expect(await address('pets@gold')).toContain('/datasets/pets?');
  expect(await address('cats v2')).toContain('/models/cats/versions/2');
  expect(screen.queryByRole('link', { name: 'ci' })).toBeNull();
  await expectNoViolations(container);
});

test('a role and an invitation say whose they are', async () => {
  serve(
    'GET',
    'audit/',
    listing(
      event('role.changed', 'rolebinding', { user: 'bob', role: 'viewer', before: 'admin' }),
      event('invitation.created', 'invitation', { email: 'eve@example.org', role: 'labeler' }),
      event('invitation.accepted', 'invitation', { user: 'eve', role: 'labeler' }),
      event('invitation.revoked', 'invitation', { email: 'kim@example.org' }),
    ),
  );
  await renderPage(<AuditLogPage />, '/settings/audit', '/settings/audit');
  for (const said of [/bob as Viewer/, /eve@example.org as Labeler/, /eve as Labeler/, /kim@example.org/])
    expect(await screen.findByText(said)).toBeDefined();
});

test('a year that is being typed is no filter yet', async () => {
  const asked: (string | null)[] = [];
  serve('GET', 'audit/', (_: Request, url: URL) => {
    asked.push(url.searchParams.get('from'));
    return listing();
  });
  await renderPage(<AuditLogPage />, '/settings/audit?from=2026-01-02', '/settings/audit');
  const field = screen.getByLabelText<HTMLInputElement>('From');
  fireEvent.change(field, { target: { value: '0202-01-02' } });
  expect(field.value).toBe('0202-01-02');
  await new Promise((later) => setTimeout(later, 300));
  fireEvent.change(field, { target: { value: '2025-01-02' } });
  await waitFor(() => expect(asked).toHaveLength(2));
  expect(asked.map((from) => from?.slice(0, 4))).toEqual(['2026', '2025']);
});

test('what is typed into one field leaves what was typed into another', async () => {
  let asked = new URLSearchParams();
  serve('GET', 'audit/', (_: Request, url: URL) => {
    asked = url.searchParams;
    return listing();
  });
  await renderPage(<AuditLogPage />, '/settings/audit', '/settings/audit');
  fireEvent.change(screen.getByLabelText('User name'), { target: { value: 'rita' } });
  fireEvent.change(screen.getByLabelText(/^Event/), { target: { value: 'run.created' } });
  await waitFor(() => expect([asked.get('actor'), asked.get('verb')]).toEqual(['rita', 'run.created']));
});

test('a filter by a project that nobody has says so and can be dropped', async () => {
  serve('GET', 'audit/', (_: Request, url: URL) =>
    url.searchParams.get('project') ? listing() : listing(event('run.created', 'run', { name: 'first try' })),
  );
  await renderPage(<AuditLogPage />, '/settings/audit?in=bogus', '/settings/audit');
  await screen.findByText('No project “bogus”');
  await userEvent.click(screen.getByRole('button', { name: 'Show all events' }));
  await screen.findByRole('link', { name: 'first try' });
});
