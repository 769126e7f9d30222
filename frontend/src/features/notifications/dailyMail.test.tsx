import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { PreferencesPage } from './PreferencesPage';
import { browserZone, dueText, zoneName, zones } from './zones';

const AT = 'notifications/preferences/';
const TOPICS = [{ topic: 'audit', in_app: true, mail: 'daily', is_fixed: false }];
const patched = () => sent.filter(({ line }) => line.startsWith('PATCH')).map(({ body }) => body);

function serveSettings(): void {
  let daily = { time_zone: 'Pacific/Apia', hour: 6, next_at: '2026-01-01T17:00:00Z' };
  const answer = () => ({ sends_mail: true, has_address: true, topics: TOPICS, daily });
  serve('GET', AT, answer);
  serve('PATCH', AT, async (request: Request) => {
    daily = { ...daily, ...(await request.clone().json()).daily };
    return answer();
  });
}

test('the daily mail comes at an hour and in a zone that are found by name, or are the browser’s', async () => {
  serveSettings();
  const { container } = await renderPage(<PreferencesPage />);
  const section = within(await screen.findByRole('region', { name: 'Daily mail' }));
  expect(section.getByRole('status').textContent).toMatch(/Friday, January 2.*06:00 Samoa/);
  await expectNoViolations(container);
  await userEvent.click(section.getByRole('button', { name: `Use this browser’s: ${zoneName(browserZone())}` }));
  await waitFor(() => expect(section.queryByRole('button')).toBeNull());
  await userEvent.click(section.getByRole('combobox', { name: 'Time' }));
  await userEvent.click(await screen.findByRole('option', { name: '18:00' }));
  const zone = section.getByRole('combobox', { name: 'Time zone' });
  await userEvent.clear(zone);
  await userEvent.type(zone, 'york ame');
  await userEvent.click(await screen.findByRole('option', { name: 'America/New York' }));
  await waitFor(() =>
    expect(patched()).toEqual([
      { daily: { time_zone: browserZone() } },
      { daily: { hour: 18 } },
      { daily: { time_zone: 'America/New_York' } },
    ]),
  );
});

test('no mail is promised where none is sent', async () => {
  const daily = { time_zone: 'UTC', hour: 6, next_at: '2026-01-01T06:00:00Z' };
  const answer = { sends_mail: true, has_address: false, topics: TOPICS, daily };
  serve('GET', AT, answer);
  await renderPage(<PreferencesPage />);
  const section = within(await screen.findByRole('region', { name: 'Daily mail' }));
  expect(section.queryByRole('status')).toBeNull();
});

test('what the server refuses is told, and the time stays', async () => {
  serveSettings();
  serve('PATCH', AT, () => problem(400, 'invalid', 'No such zone'));
  await renderPage(<PreferencesPage />);
  const section = within(await screen.findByRole('region', { name: 'Daily mail' }));
  await userEvent.click(section.getByRole('button'));
  await waitFor(() => expect(patched()).toHaveLength(1));
  expect(section.getByRole('combobox', { name: 'Time zone' })).toHaveProperty('value', 'Pacific/Apia');
});

test('zones that this browser does not know are kept, and shown by its own clock', () => {
  expect(zones('Mars/Olympus', 'UTC')).toEqual(expect.arrayContaining(['UTC', 'Europe/Berlin', 'Mars/Olympus']));
  expect(zones('UTC').filter((zone) => zone === 'UTC')).toHaveLength(1);
  expect(dueText('2026-01-01T17:00:00Z', 'Mars/Olympus', 'en')).toMatch(/January/);
  expect(dueText('2026-01-01T17:00:00Z', 'Asia/Shanghai', 'zh')).toMatch(/1月2日.*01:00/);
});
