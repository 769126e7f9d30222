import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { FilesTab } from '../files/FilesTab';
import { RunRetentionPage } from '../index';
import { RunKept } from './RunKept';

const POLICY = 'projects/{project}/run-retention/';
const policy = (days: number | null, due: object[] = []) => ({ days, due_count: due.length, due_bytes: 2048, due });
const DUE = { id: 'r1', number: 7, name: 'first try', finished_at: '2026-01-01T00:00:00Z' };

test('a policy is looked at before it is set', async () => {
  serve('GET', POLICY, (_: Request, url: URL) => policy(null, url.searchParams.get('days') === '30' ? [DUE] : []));
  serve('PUT', POLICY, policy(30, [DUE]));
  const { container } = await renderPage(<RunRetentionPage />);
  await screen.findByText('Nothing would go');
  await userEvent.click(screen.getByRole('radio', { name: 'Stay for some days' }));
  const field = screen.getByRole('textbox', { name: 'How many days' });
  await userEvent.clear(field);
  // Without a number of days, the page does not ask what would go.
  expect(screen.queryByText('Nothing would go')).toBeNull();
  expect(screen.getByRole('button', { name: 'Save' }).hasAttribute('disabled')).toBe(true);
  await userEvent.type(field, '30');
  expect((await screen.findByRole('link', { name: '7' })).getAttribute('href')).toBe('/runs/r1');
  screen.getByText('1 run would lose its logs and outputs (2 KiB).');
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await eventually(() => expect(sent.find(({ line }) => line.startsWith('PUT'))?.body).toEqual({ days: 30 }));
});

const run = { id: 'r1', state: 'succeeded', starred: false } as Run;
const keeping = (extra: object) => ({
  until: null,
  due_at: null,
  removed_at: null,
  removed_bytes: 0,
  project_days: 30,
  ...extra,
});

test('what was announced can be kept, and what was removed is said', async () => {
  serve('GET', 'runs/{run}/retention/', keeping({ due_at: '2026-02-03T12:00:00Z' }));
  serve('PUT', 'runs/{run}/retention/', keeping({}));
  const { unmount } = await renderPage(<RunKept run={run} />);
  const notice = await screen.findByRole('alert');
  await expectNoViolations(notice);
  await userEvent.click(within(notice).getByRole('button', { name: 'Keep…' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'For 90 days from now' }));
  await eventually(() => expect(sent.find(({ line }) => line.startsWith('PUT'))?.body).toEqual({ days: 90 }));
  unmount();
  serve('GET', 'runs/{run}/retention/', keeping({ removed_at: '2026-02-03T12:00:00Z', removed_bytes: 1024 }));
  await renderPage(<RunKept run={run} />);
  await screen.findByText(/Logs and outputs \(1 KiB\) were removed on Feb 3, 2026/);
});

test('files that were removed are not said never to have been there', async () => {
  serve('GET', 'runs/{run}/retention/', keeping({ removed_at: '2026-02-03T12:00:00Z', removed_bytes: 1024 }));
  serve('GET', 'runs/{run_id}/files/folder/', { folders: [], files: [], truncated: false });
  const { container } = await renderPage(<FilesTab run={run} active={false} />, '/runs/r1', '/runs/$runId');
  await screen.findByText('The project’s policy removed the files on Feb 3, 2026');
  expect(screen.queryByText(/^No files/)).toBeNull();
  await expectNoViolations(container);
});

test('a time that is chosen while the last choice can be undone is the one that counts', async () => {
  serve('GET', 'runs/{run}/retention/', keeping({ until: '2026-03-01T00:00:00Z' }));
  serve('PUT', 'runs/{run}/retention/', {});
  await renderPage(<RunKept run={run} />);
  const choose = async (name: RegExp) => {
    await userEvent.click(await screen.findByRole('button', { name: 'Keep…' }));
    await userEvent.click(await screen.findByRole('menuitem', { name }));
  };
  await choose(/As long as/);
  await choose(/For 30 days/);
  const days = () => sent.filter(({ line }) => line.startsWith('PUT')).map(({ body }) => body);
  await eventually(() => expect(days()).toEqual([{ days: null }, { days: 30 }]));
});
