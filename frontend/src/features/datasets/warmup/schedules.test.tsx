import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { PlansPage, WarmUpPage } from '../index';
import { choice, nodeChoice, plan, record, schedule } from './warmup.fixtures';

const VERSION = 'projects/{project}/datasets/pets/versions/v3/';
const SCHEDULES = 'projects/{project}/warm-schedules/';

test('fixed times say the next time and the last plan, and are paused', async () => {
  serve('GET', 'projects/{project}/warm-plans/', listing(plan()));
  serve('GET', SCHEDULES, listing(schedule({ keep_s: 7 * 86_400 })));
  serve('POST', `${SCHEDULES}s1/pause/`, schedule({ paused: true, next_at: null }));
  const { container } = await renderPage(<PlansPage />, '/warm-plans', '/warm-plans');
  const row = within(await screen.findByRole('group', { name: 'Fixed times of pets@main in east' }));
  row.getByText('0 3 * * * UTC');
  row.getByText('Done');
  row.getByText(/stays for 7d 00h each time/);
  await expectNoViolations(container);
  await userEvent.click(row.getByRole('button', { name: 'Pause the times of pets@main' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/s1/pause/'))).toBe(true));
});

test('a version is warmed at fixed times', async () => {
  serve('GET', `${VERSION}cache/`, [record()]);
  serve('GET', `${VERSION}warm-choices/`, [choice(nodeChoice('gpu-1'))]);
  serve('GET', `${VERSION}warm-plans/`, listing());
  serve('GET', SCHEDULES, listing());
  serve('POST', 'projects/{project}/datasets/pets/warm-schedules/', schedule());
  await renderPage(<WarmUpPage />, '/datasets/pets/warm-up?ref=v3', '/datasets/$name/warm-up');
  await userEvent.click(await screen.findByRole('button', { name: 'Start a plan' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.click(await dialog.findByRole('radio', { name: 'At fixed times, the newest version of main' }));
  expect(dialog.queryByRole('radio', { name: 'It stays until you release it' })).toBeNull();
  await userEvent.click(dialog.getByRole('radio', { name: 'It stays for some days' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Every Monday' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Start a plan' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const body = sent.find(({ line }) => line.startsWith('POST') && line.endsWith('/warm-schedules/'))?.body;
  expect(body).toMatchObject({ ref: 'main', cluster: 'east', copies: 1, cron: '0 3 * * 1', keep_s: 604_800 });
});
