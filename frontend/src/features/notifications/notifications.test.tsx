import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { setLanguage } from '@/i18n';
import { useProjects } from '@/shared/domain/project';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { Bell } from './Bell';
import { NotificationsPage } from './NotificationsPage';
import { PreferencesPage } from './PreferencesPage';
import { UnsubscribePage } from './UnsubscribePage';

const AT = 'notifications/';
const told = (extra: object = {}) => ({
  id: '0198aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
  kind: 'run.failed',
  topic: 'run_failed',
  project: { slug: 'vision', name: 'Vision' },
  subject: 's',
  data: { name: 'digits', failure_class: 'OOM_HOST' },
  count: 1,
  path: '/runs/1?project=vision',
  at: '2026-01-01T00:00:00Z',
  read_at: null,
  ...extra,
});
const DAILY = { time_zone: 'UTC', hour: 6, next_at: '2026-01-02T06:00:00Z' };
const open = (search = '') => renderPage(<NotificationsPage />, `/notifications${search}`, '/notifications');
const posted = () => sent.filter(({ line }) => line.startsWith('POST'));

test('the bell tells how many are unread and shows the latest', async () => {
  serve('GET', `${AT}count/`, { unread: 2, counted_to: 100 });
  serve('GET', AT, listing(told(), told({ id: 'b', kind: 'label_task.returned', count: 3, data: { name: 'cats' } })));
  serve('POST', `${AT}read/`, { changed: 2 });
  await renderPage(<Bell />);
  await userEvent.click(await screen.findByRole('button', { name: 'Notifications, 2 unread' }));
  const first = await screen.findByRole('link', { name: /Run digits failed/ });
  expect(first.getAttribute('href')).toBe('/runs/1?project=vision');
  screen.getByText('3 items of cats came back to you');
  first.focus();
  await userEvent.keyboard('j');
  expect(document.activeElement?.textContent).toContain('cats');
  await userEvent.click(screen.getByRole('button', { name: 'Mark all as read' }));
  await waitFor(() => expect(posted()[0]?.body).toEqual({ until: told().id }));
});

test.each([
  ['en', 'Python', '', 'New sign-in: Python from 10.0.0.7'],
  ['en', 'Chrome', 'Linux', 'New sign-in: Chrome on Linux from 10.0.0.7'],
  ['zh', 'Python', '', '新的登录：Python，来自 10.0.0.7'],
  ['zh', 'Chrome', 'Linux', '新的登录：Linux 上的 Chrome，来自 10.0.0.7'],
  ['zh', '', '', '新的登录：未知浏览器，来自 10.0.0.7'],
] as const)('a sign-in is told without stray blanks: %s, %s, %s', async (language, browser, system, words) => {
  await setLanguage(language);
  const data = { browser, system, address: '10.0.0.7' };
  serve('GET', AT, listing(told({ kind: 'account.signed_in', topic: 'security', data })));
  await open();
  expect((await screen.findAllByText(words)).length).toBeGreaterThan(0);
  await setLanguage('en');
});

describe('the socket of the bell', () => {
  const real = globalThis.WebSocket;
  let socket: FakeSocket | undefined;
  /** Stands in for the browser's WebSocket, which we do not own. */
  class FakeSocket {
    readyState = 1;
    onopen = () => {};
    onmessage = (_: { data: string }) => {};
    onclose = (_: { code: number }) => {};
    constructor() {
      socket = this;
    }
    close() {}
  }
  beforeEach(() => {
    globalThis.WebSocket = FakeSocket as unknown as typeof WebSocket;
  });
  afterEach(() => {
    globalThis.WebSocket = real;
  });
  const Role = () => <p>{useProjects().data?.results[0]?.role}</p>;

  test('a role that was taken away is read again when its person is told', async () => {
    let role = 'admin';
    serve('GET', `${AT}count/`, { unread: 0, counted_to: 100 });
    serve('GET', 'projects/', () => listing({ slug: 'vision', name: 'Vision', role }));
    const both = (
      <>
        <Bell />
        <Role />
      </>
    );
    await renderPage(both);
    await screen.findByText('admin');
    role = 'viewer';
    act(() => socket?.onmessage({ data: JSON.stringify({ type: 'notification' }) }));
    await screen.findByText('viewer');
  });

  test('a session that ended elsewhere is noticed at once', async () => {
    serve('GET', `${AT}count/`, { unread: 0, counted_to: 100 });
    await renderPage(<Bell />);
    const asked = () => sent.filter(({ line }) => line.endsWith('/count/')).length;
    await waitFor(() => expect(asked()).toBe(1));
    act(() => socket?.onopen());
    act(() => socket?.onclose({ code: 4404 }));
    await waitFor(() => expect(asked()).toBe(2));
  });
});

test('filters are in the address, and a row can be marked', async () => {
  let asked = new URLSearchParams();
  serve('GET', AT, (_: Request, url: URL) => {
    asked = url.searchParams;
    return listing(told());
  });
  serve('POST', `${AT}read/`, { changed: 1 });
  const { container } = await open('?show=unread&topic=run_failed');
  await userEvent.click(await screen.findByRole('button', { name: /^Mark as read: Run digits failed/ }));
  expect([asked.get('unread'), asked.get('topic')]).toEqual(['true', 'run_failed']);
  await waitFor(() => expect(posted()[0]?.body).toEqual({ ids: [told().id] }));
  await expectNoViolations(container);
});

test('who was told nothing yet is told what will come; a failure can be tried again', async () => {
  serve('GET', AT, listing());
  await open();
  await screen.findByText('Nothing yet');
});

test('a list that cannot be read says so', async () => {
  serve('GET', AT, () => problem(500, 'internal_error', 'Broken'));
  await open();
  await screen.findByText('Broken');
});

test('how one is told is kept at once; what concerns safety is fixed', async () => {
  const topics = [
    { topic: 'run_failed', in_app: true, mail: 'now', is_fixed: false },
    { topic: 'security', in_app: true, mail: 'now', is_fixed: true },
  ];
  const answer = { sends_mail: false, has_address: true, topics, daily: DAILY };
  serve('GET', `${AT}preferences/`, answer);
  serve('PATCH', `${AT}preferences/`, answer);
  const { container } = await renderPage(<PreferencesPage />);
  await userEvent.click(await screen.findByRole('switch', { name: 'In the portal: Failed runs' }));
  const patched = () => sent.find(({ line }) => line.startsWith('PATCH'))?.body;
  await waitFor(() => expect(patched()).toEqual({ topics: [{ topic: 'run_failed', in_app: false }] }));
  expect(screen.getByRole('switch', { name: /Safety/ })).toHaveProperty('disabled', true);
  screen.getByText(/sends no e-mail/);
  await expectNoViolations(container);
});

test('mails end by a press, not by opening the link', async () => {
  serve('POST', `${AT}unsubscribe/{link}/`, { topic: 'run_failed' });
  await renderPage(<UnsubscribePage />, '/unsubscribe/x.y', '/unsubscribe/$link');
  expect(posted()).toEqual([]);
  await userEvent.click(screen.getByRole('button', { name: 'Stop these e-mails' }));
  await screen.findByText('You get no more e-mails about: Failed runs.');
});

test('what chooses a notification is named after what it says', async () => {
  serve('GET', AT, listing(told()));
  await open();
  await screen.findByRole('checkbox', { name: /Run digits failed/ });
});

test('many of one kind in one project are one line, which opens and is read as one', async () => {
  const version = (index: number, extra: object = {}) =>
    told({
      id: `v${index}`,
      kind: 'commit.published',
      topic: 'data_finished',
      data: { dataset: `d${index}` },
      ...extra,
    });
  const many = Array.from({ length: 4 }, (_, index) => version(index));
  const elsewhere = version(9, { project: { slug: 'other', name: 'Other' } });
  serve('GET', AT, listing(...many, elsewhere, told({ id: 'f' })));
  serve('POST', `${AT}read/`, { changed: 4 });
  await open();

  const group = await screen.findByRole('button', { name: '4 datasets have new versions' });
  expect(screen.queryByText('d1 has a new version')).toBeNull();
  screen.getByText('d9 has a new version');
  await userEvent.click(group);
  screen.getByText('d1 has a new version');
  expect(group.getAttribute('aria-expanded')).toBe('true');
  await userEvent.click(screen.getByRole('button', { name: 'Mark as read: 4 datasets have new versions' }));
  await waitFor(() => expect(posted()[0]?.body).toEqual({ ids: ['v0', 'v1', 'v2', 'v3'] }));
});

test('many runs of one name on one day are one line, and other days are other lines', async () => {
  const ran = (id: string, name: string, at: string) =>
    told({ id, kind: 'run.succeeded', topic: 'run_finished', subject: id, data: { name }, at });
  const today = new Date().toISOString();
  const before = '2026-01-01T12:00:00Z';
  const rows = [
    ...['a', 'b', 'c'].map((id) => ran(id, 'digits', today)),
    ran('x', 'cats', today),
    ...['d', 'e', 'f'].map((id) => ran(id, 'digits', before)),
  ];
  serve('GET', AT, listing(...rows));
  serve('POST', `${AT}read/`, { changed: 3 });
  const { container } = await open();

  const groups = await screen.findAllByRole('button', { name: '3 runs of digits succeeded' });
  expect(groups).toHaveLength(2);
  screen.getByText('Run cats succeeded');
  expect(screen.getAllByRole('rowheader').map((heading) => heading.textContent)).toEqual(['Today', 'Jan 1, 2026']);
  groups[1]?.focus();
  await userEvent.keyboard('{Enter}');
  expect(groups.map((group) => group.getAttribute('aria-expanded'))).toEqual(['false', 'true']);
  expect(screen.getAllByText('Run digits succeeded')).toHaveLength(3);
  await expectNoViolations(container);
  const mark = screen.getAllByRole('button', { name: 'Mark as read: 3 runs of digits succeeded' })[0];
  await userEvent.click(mark as HTMLElement);
  await waitFor(() => expect(posted()[0]?.body).toEqual({ ids: ['a', 'b', 'c'] }));
});
