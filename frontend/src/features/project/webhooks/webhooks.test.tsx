import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { WebhooksPage } from './WebhooksPage';

const AT = 'projects/{project}/webhooks/';
const ID = '0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000';
const hook = (extra: object = {}) => ({
  id: ID,
  name: 'ci',
  url: 'https://ci.example.com/atom',
  events: ['run.failed'],
  active: true,
  off_reason: '',
  off_at: null,
  old_secret_until: null,
  last_success_at: null,
  created_by: 'alice',
  created_at: '2026-01-01T00:00:00Z',
  ...extra,
});
const delivery = (extra: object = {}) => ({
  id: '0198aaaa-bbbb-7ccc-8ddd-eeeeffff0001',
  kind: 'run.failed',
  state: 'failed',
  tries: 3,
  created_at: '2026-01-01T00:00:00Z',
  tried_at: '2026-01-01T00:00:01Z',
  next_at: '2026-01-01T00:00:01Z',
  gives_up_at: null,
  duration_ms: 12,
  status_code: 500,
  error: 'It answered 500.',
  ...extra,
});
const open = (search = '') => renderPage(<WebhooksPage />, `/settings/webhooks${search}`, '/settings/webhooks');

test('a webhook is added, and its secret shown once', async () => {
  serve('GET', AT, listing());
  serve('POST', AT, { ...hook(), secret: 'very-secret' });
  await open();
  await screen.findByText('No webhooks yet');
  await userEvent.click(screen.getAllByRole('button', { name: 'New webhook' })[0] as HTMLElement);
  const add = await screen.findByRole('button', { name: 'Add webhook' });
  await userEvent.click(screen.getByLabelText('Name'));
  await userEvent.paste('ci');
  await userEvent.click(screen.getByLabelText('Address'));
  await userEvent.paste('ci.example.com');
  await userEvent.click(add);
  screen.getByText('Give an address that begins with https:// or http://.');
  await userEvent.clear(screen.getByLabelText('Address'));
  await userEvent.click(screen.getByLabelText('Address'));
  await userEvent.paste('https://ci.example.com/atom');
  await userEvent.click(add);
  await screen.findByText('very-secret');
  const posted = sent.find(({ line }) => line.startsWith('POST'))?.body;
  expect(posted).toEqual({
    name: 'ci',
    url: 'https://ci.example.com/atom',
    events: ['run.succeeded', 'run.failed'],
  });
});

test('one that was switched off says why, and can be switched on', async () => {
  serve('GET', AT, listing(hook({ active: false, off_reason: 'failing' })));
  serve('PATCH', `${AT}{webhook_id}/`, hook());
  const { container } = await open();
  await screen.findByText(/accepted nothing for a day/);
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'More for ci' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Switch on' }));
  await waitFor(() => expect(sent.find(({ line }) => line.startsWith('PATCH'))?.body).toEqual({ active: true }));
});

test('a delivery shows what was sent and what came back, and is sent again', async () => {
  serve('GET', AT, listing(hook()));
  serve('GET', `${AT}{webhook_id}/deliveries/`, listing(delivery()));
  const detail = {
    body: '{"event": "run.failed"}',
    request_headers: { 'Atom-Event': 'run.failed' },
    response_excerpt: 'out of order',
  };
  serve('GET', `${AT}{webhook_id}/deliveries/{delivery_id}/`, delivery(detail));
  serve('POST', `${AT}{webhook_id}/deliveries/{delivery_id}/redeliver/`, delivery({ state: 'pending' }));
  serve('POST', `${AT}{webhook_id}/test/`, delivery({ state: 'pending' }));
  await open(`?of=${ID}`);
  await userEvent.click(await screen.findByRole('button', { name: 'run.failed' }));
  await screen.findByText('out of order');
  screen.getByText('It answered 500.');
  await userEvent.click(screen.getByRole('button', { name: 'Send again' }));
  await userEvent.click(screen.getByRole('button', { name: 'Send a test' }));
  await waitFor(() => expect(sent.filter(({ line }) => line.startsWith('POST'))).toHaveLength(2));
  await expectNoViolations(document.body);
});

test('a delivery that is being tried is followed to its end', async () => {
  const detail = { body: '{}', request_headers: {}, response_excerpt: '', error: '' };
  let asked = 0;
  serve('GET', AT, listing(hook()));
  serve('GET', `${AT}{webhook_id}/deliveries/`, listing(delivery()));
  serve('GET', `${AT}{webhook_id}/deliveries/{delivery_id}/`, () => {
    asked += 1;
    return delivery({ ...detail, state: asked === 1 ? 'pending' : 'delivered' });
  });
  await open(`?of=${ID}`);
  await userEvent.click(await screen.findByRole('button', { name: 'run.failed' }));
  const shown = await screen.findByRole('region', { name: 'Delivery' });
  await within(shown).findByText('Delivered', {}, { timeout: 8000 });
}, 15_000);

test('who does not administer the project is offered nothing', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'researcher', unit: null }));
  await open();
  await screen.findByText(/its administrators see and change them/);
  expect(sent.some(({ line }) => line.includes('webhooks'))).toBe(false);
});
