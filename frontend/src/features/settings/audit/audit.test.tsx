import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AuditLogPage } from './AuditLogPage';

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

test('a filter by a project that nobody has says so and can be dropped', async () => {
  serve('GET', 'audit/', (_: Request, url: URL) =>
    url.searchParams.get('project') ? listing() : listing(event('run.created', 'run', { name: 'first try' })),
  );
  await renderPage(<AuditLogPage />, '/settings/audit?in=bogus', '/settings/audit');
  await screen.findByText('No project “bogus”');
  await userEvent.click(screen.getByRole('button', { name: 'Show all events' }));
  await screen.findByRole('link', { name: 'first try' });
});
