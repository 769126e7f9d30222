import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { GarbagePage } from './GarbagePage';

const AT = 'projects/{project}/garbage-runs/';
const run = (extra: object) => ({
  id: '0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
  is_dry_run: false,
  state: 'done',
  requested_by: null,
  examined_count: 120,
  examined_bytes: 4096,
  garbage_count: 3,
  garbage_bytes: 2048,
  staged_count: 7,
  staged_bytes: 512,
  repacked_count: 11,
  repacked_bytes: 1024 ** 2,
  repacked_needed_bytes: 4096,
  condemned_count: 3,
  deleted_count: 0,
  examples: [`packs/${'ab'.repeat(32)}`],
  created_at: '2026-01-01T00:00:00Z',
  finished_at: '2026-01-01T00:00:01Z',
  error: null,
  ...extra,
});
const open = () => renderPage(<GarbagePage />, '/settings/garbage', '/settings/garbage');

test('what a run marked can be kept', async () => {
  serve('GET', AT, listing(run({})));
  serve('POST', `${AT}{garbage_run_id}/pardon/`, run({ condemned_count: 0 }));
  const { container } = await open();
  await userEvent.click(await screen.findByRole('button', { name: 'Keep 3 objects' }));
  screen.getByRole('columnheader', { name: 'Abandoned uploads' });
  screen.getByText('7');
  screen.getByRole('columnheader', { name: 'Repacked packs' });
  expect(screen.getByText('11').parentElement?.textContent).toBe('11· 1 MiB → 4 KiB');
  await waitFor(() => expect(sent.filter(({ line }) => line.endsWith('/pardon/'))).toHaveLength(1));
  await expectNoViolations(container);
});

test('a run that failed says why and what to do', async () => {
  const error = { code: 'clocks_differ', detail: 'The clocks differ.', action: 'Set the clocks.' };
  serve('GET', AT, listing(run({ state: 'failed', error, condemned_count: 0, examples: [] })));
  await open();
  await screen.findByText('The clocks differ. Set the clocks.');
  expect(screen.queryByRole('button', { name: /Keep/ })).toBeNull();
});

test('who does not administer the project is offered nothing', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await open();
  await screen.findByText(/^Only administrators of the project see and clean its storage\./);
  await screen.findByText(/An administrator of the project Vision can give you the role/);
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(['Sign in as somebody else']);
  expect(sent.some(({ line }) => line.includes('garbage-runs'))).toBe(false);
});

test('without a run, a report is one click away and collecting asks for the name', async () => {
  serve('GET', AT, listing());
  serve('POST', AT, run({ is_dry_run: true, state: 'running' }));
  const { container } = await open();
  await screen.findByText('No report yet: one is made every night');
  await userEvent.click(screen.getAllByRole('button', { name: 'Make a report' })[0] as HTMLElement);
  const posted = () => sent.filter(({ line }) => line.startsWith('POST')).map(({ body }) => body);
  await waitFor(() => expect(posted()).toEqual([{ is_dry_run: true }]));
  await userEvent.click(screen.getByRole('button', { name: 'Delete unreferenced files…' }));
  const dialog = await screen.findByRole('dialog');
  expect(dialog.textContent).toContain('30 days later');
  await expectNoViolations(container);
});
