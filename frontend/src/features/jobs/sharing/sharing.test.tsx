import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ShareDialog } from './ShareDialog';
import { SharedRunPage } from './SharedRunPage';

const run = { id: 'r1', number: 7, name: 'first try', origin: 'atom' } as Run;
const SHARES = 'runs/{run_id}/shares/';
const one = (id: string, note: string, who = 'alice') => ({
  id,
  note,
  with_log: id === 's1',
  created_by: { username: who, full_name: '' },
  created_at: '2026-01-01T00:00:00Z',
  expires_at: '2099-01-01T00:00:00Z',
  last_seen_at: null,
});
const open = () => renderPage(<ShareDialog run={run} opened onClose={() => {}} />);
const bodies = (line: string) => sent.filter((said) => said.line.startsWith(line)).map(({ body }) => body);

test('a link is made, shown once and copied', async () => {
  serve('GET', SHARES, { enabled: true, results: [] });
  const link = 'https://atom.example/shared-run#atomshare_x';
  serve('POST', SHARES, { ...one('s1', 'Bo'), token: 'atomshare_x', link });
  await open();
  await userEvent.type(await screen.findByRole('textbox', { name: 'Whom it is for' }), ' Bo ');
  await userEvent.click(screen.getByRole('checkbox', { name: 'Show the log too' }));
  await expectNoViolations(document.body);
  await userEvent.click(screen.getByRole('button', { name: 'Make link' }));
  await screen.findByText(link);
  expect(bodies('POST')).toEqual([{ days: 30, note: 'Bo', with_log: true }]);
  screen.getByRole('button', { name: 'Copy Link to the run' });
  expect(document.activeElement?.textContent).toBe('Done');
  await expectNoViolations(document.body);
  await userEvent.click(screen.getByRole('button', { name: 'Done' }));
  expect(screen.queryByText(link)).toBeNull();
});

test('ending is asked about and then done at once; only one’s own unless one administers', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'researcher', unit: null }));
  serve('GET', SHARES, { enabled: true, results: [one('s1', 'Bo'), one('s2', '', 'mia')] });
  serve('DELETE', 'runs/{run_id}/shares/{share_id}/', () => new Response(null, { status: 204 }));
  await open();
  await userEvent.click(await screen.findByRole('button', { name: 'End Bo' }));
  await userEvent.click(screen.getByRole('button', { name: 'Keep it' }));
  expect(bodies('DELETE')).toEqual([]);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'End Bo' }));
  expect(screen.queryByRole('button', { name: 'End Link without a note' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'End Bo' }));
  expect(document.activeElement?.textContent).toBe('End it');
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(sent.some(({ line }) => line === 'DELETE /api/v1/runs/r1/shares/s1/')).toBe(true));
});

test('where links are switched off none can be made', async () => {
  serve('GET', SHARES, { enabled: false, results: [] });
  await open();
  await screen.findByText(/This installation makes no links/);
  expect(screen.queryByRole('button', { name: 'Make link' })).toBeNull();
});

const SHARED = {
  name: 'first try',
  state: 'failed',
  failure_class: 'RUNTIME_BUILD',
  failure_reason: null,
  failure: null,
  progress: 0.5,
  created_at: '2026-01-01T00:00:00Z',
  started_at: '2026-01-01T00:00:00Z',
  finished_at: '2026-01-01T00:01:00Z',
  duration_s: 60,
  created_by: 'Ada L',
  workflow: null,
  parameters: { lr: 0.1 },
  metrics: { loss: 0.25 },
  datasets: [{ dataset: 'digits', version: 'v1' }],
  commit: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  notes: 'Look at this',
  attempts: 1,
  expires_at: '2099-01-01T00:00:00Z',
  with_log: true,
};
const visit = (hash = '#tok') => renderPage(<SharedRunPage />, `/shared-run${hash}`, '/shared-run');

test('a link shows its run to nobody in particular, with the token in a header', async () => {
  const asked: (string | null)[] = [];
  const seen = (answer: unknown) => (request: Request) => {
    asked.push(request.headers.get('Atom-Share'));
    return answer;
  };
  serve('GET', 'shared-run/', seen(SHARED));
  serve('GET', 'shared-run/metrics/', seen([]));
  const frame = { byte_off: 0, ts_ns: 1, fd: 1, text: 'epoch 1\n' };
  serve('GET', 'shared-run/log/', seen({ attempt: 1, frames: [frame], next: 8, eof: true }));
  const { container } = await visit();
  await screen.findByRole('heading', { name: 'first try', level: 1 });
  const main = within(screen.getByRole('main'));
  for (const words of ['by Ada L', 'Environment not built', 'digits@v1', 'Look at this', 'loss', '0.25'])
    main.getByText(words);
  await waitFor(() => expect(new Set(asked)).toEqual(new Set(['tok'])));
  await waitFor(() => expect(asked.length).toBeGreaterThanOrEqual(3));
  // Nothing that a member would be asked for, and the token in no address.
  expect(sent.every(({ line }) => line.startsWith('GET /api/v1/shared-run/'))).toBe(true);
  expect(sent.every(({ line }) => !line.includes('tok'))).toBe(true);
  await expectNoViolations(container);
});

test('a run that ended without a curve, a value or a start says so, and why it failed', async () => {
  const nothing = { metrics: {}, started_at: null, attempts: 0, failure_class: 'PREPARATION' };
  serve('GET', 'shared-run/', { ...SHARED, ...nothing });
  serve('GET', 'shared-run/metrics/', []);
  const { container } = await visit();
  await screen.findByText('No curves');
  for (const words of ['Nothing was measured.', 'Never', 'Not prepared']) screen.getByText(words);
  screen.getByText(/could not be brought to the machine.*Members of the project see the details/);
  expect(screen.queryByText(/yet/)).toBeNull();
  await expectNoViolations(container);
});

test('the log of an earlier attempt is chosen, and the address keeps it', async () => {
  serve('GET', 'shared-run/', { ...SHARED, attempts: 3 });
  serve('GET', 'shared-run/metrics/', []);
  serve('GET', 'shared-run/log/', (request: Request) => {
    const attempt = Number(new URL(request.url).searchParams.get('attempt'));
    const frame = { byte_off: 0, ts_ns: 1, fd: 1, text: `said by ${attempt}\n` };
    return { attempt, frames: [frame], next: 10, eof: true };
  });
  const { container, unmount } = await visit();
  const choice = await screen.findByRole('combobox', { name: 'Attempt' });
  expect(choice).toHaveProperty('value', 'Attempt 3');
  // Controls are not printed, whoever asks the browser for it.
  expect(choice.closest('[data-no-print]')).not.toBeNull();
  expect(screen.getByRole('switch', { name: 'Follow the end' }).closest('[data-no-print]')).not.toBeNull();
  await screen.findByText('said by 3');
  await userEvent.click(choice);
  await userEvent.keyboard('{ArrowUp}{ArrowUp}{Enter}');
  await screen.findByText('said by 1');
  expect(screen.queryByText('said by 3')).toBeNull();
  expect(choice).toHaveProperty('value', 'Attempt 1');
  // The token is still there.
  screen.getByRole('heading', { name: 'first try', level: 1 });
  await expectNoViolations(container);
  unmount();
  await visit('?attempt=2#tok');
  await screen.findByText('said by 2');
  unmount();
  await visit('?attempt=9#tok');
  await screen.findByText('said by 3');
});

test('a link that has ended says so, and so does an address without one', async () => {
  serve('GET', 'shared-run/', problem(404, 'share_unknown', 'This link to a run does not work.'));
  const { container, unmount } = await visit();
  await screen.findByText('This link does not work, or not any more: ask its sender for a new one');
  await expectNoViolations(container);
  const before = sent.length;
  unmount();
  await visit('');
  await screen.findByText('This link does not work, or not any more: ask its sender for a new one');
  expect(sent.length).toBe(before);
});
