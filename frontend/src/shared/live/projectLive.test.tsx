import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { $api } from '@/api/client';
import { sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { listenFor, usePollMs, useProjectLive } from './projectLive';

/** Stands in for the browser's WebSocket, which we do not own. */
class FakeSocket {
  static last: FakeSocket | undefined;
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly url: string;
  constructor(url: string) {
    this.url = url;
    FakeSocket.last = this;
  }
  say(type: string, id?: string) {
    this.onopen?.();
    this.onmessage?.({ data: JSON.stringify({ type, id }) });
  }
  close() {}
}

const real = globalThis.WebSocket;
beforeEach(() => {
  globalThis.WebSocket = FakeSocket as unknown as typeof WebSocket;
});
afterEach(() => {
  globalThis.WebSocket = real;
});

const OVERVIEW = '/api/v1/projects/{project}/overview/';
function Badge() {
  useProjectLive('vision');
  const poll = usePollMs();
  const { data } = $api.useQuery('get', OVERVIEW, { params: { path: { project: 'vision' } } });
  return (
    <p>
      {data?.runs.running} running, asked every {poll(5000)} ms
    </p>
  );
}
const asked = () => sent.filter(({ line }) => line.endsWith('/overview/')).length;

test('what the project’s socket tells of is read again, and polled only while the socket is away', async () => {
  let running = 1;
  serve('GET', 'projects/vision/overview/', () => ({ runs: { running } }));
  await renderPage(<Badge />);
  await screen.findByText('1 running, asked every 5000 ms');
  expect(FakeSocket.last?.url).toMatch(/\/ws\/projects\/vision\/$/);
  running = 2;
  await act(async () => FakeSocket.last?.say('hello'));
  await screen.findByText('2 running, asked every 60000 ms');
  const before = asked();
  running = 3;
  await act(async () => FakeSocket.last?.say('writer'));
  await act(async () => FakeSocket.last?.say('unheard of'));
  await act(async () => FakeSocket.last?.say('run'));
  await screen.findByText(/^3 running/);
  expect(asked()).toBe(before + 1);
  await act(async () => FakeSocket.last?.onclose?.({ code: 1006 }));
  await waitFor(() => screen.getByText('3 running, asked every 5000 ms'));
});

test('who listens for one thing hears of it at once, also of what was said before they waited', async () => {
  await renderPage(<Badge />);
  const one = listenFor('one');
  const other = listenFor('other');
  const HOUR_MS = 3_600_000;
  await act(async () => FakeSocket.last?.say('commit', 'one'));
  await one.next(HOUR_MS, HOUR_MS);
  const waiting = one.next(HOUR_MS, HOUR_MS);
  await act(async () => FakeSocket.last?.say('commit', 'one'));
  await waiting;
  // Nothing was said of the other: it looks by itself.
  await other.next(1, 1);
  one.stop();
  other.stop();
});
