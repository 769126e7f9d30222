import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LiveSocket, type LiveStatus } from './socket';
import { socketUrl } from './useLive';

/** Stands in for the browser's WebSocket, which we do not own. */
class FakeSocket {
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  close() {
    this.readyState = 3;
  }
}

let sockets: FakeSocket[];
let statuses: LiveStatus[];
let received: { next: number }[];
let live: LiveSocket<{ next: number }>;

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  statuses = [];
  received = [];
  live = new LiveSocket({
    url: () => `/ws/?from=${received.at(-1)?.next ?? 0}`,
    onMessages: (batch) => received.push(...batch),
    onStatus: (status) => statuses.push(status),
    createSocket: (url) => {
      const socket = new FakeSocket(url);
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
  });
});
afterEach(() => {
  live.stop();
  vi.useRealTimers();
});

test('a lost connection comes back and resumes from the last offset, even if it was not flushed yet', () => {
  live.start();
  sockets[0]?.open();
  sockets[0]?.onmessage?.({ data: '{"next":120}' });
  sockets[0]?.onclose?.({ code: 1006 });
  expect(statuses.at(-1)).toBe('reconnecting');
  vi.advanceTimersByTime(600);
  expect(sockets).toHaveLength(2);
  expect(sockets[1]?.url).toBe('/ws/?from=120');
});

test('messages of one frame come as one batch', () => {
  live.start();
  sockets[0]?.open();
  for (let next = 1; next <= 500; next++) sockets[0]?.onmessage?.({ data: `{"next":${next}}` });
  expect(received).toHaveLength(0);
  vi.advanceTimersByTime(50);
  expect(received).toHaveLength(500);
});

test('the wait between attempts grows while the server is away', () => {
  live.start();
  for (let attempt = 0; attempt < 8; attempt++) {
    sockets.at(-1)?.onclose?.({ code: 1006 });
    vi.advanceTimersByTime(15_000);
  }
  const before = sockets.length;
  sockets.at(-1)?.onclose?.({ code: 1006 });
  vi.advanceTimersByTime(5000);
  expect(sockets.length).toBe(before);
});

test('a refusal is final', () => {
  live.start();
  sockets[0]?.onclose?.({ code: 4403 });
  vi.advanceTimersByTime(60_000);
  expect(sockets).toHaveLength(1);
  expect(statuses.at(-1)).toBe('closed');
});

test('coming back online reconnects at once', () => {
  live.start();
  sockets[0]?.onclose?.({ code: 1006 });
  window.dispatchEvent(new Event('online'));
  expect(sockets).toHaveLength(2);
});

test('the address takes the scheme of the page and leaves out what is null', () => {
  expect(socketUrl('/ws/runs/1/', { attempt: null, log_from: 7 })).toMatch(/^wss?:.*\/ws\/runs\/1\/\?log_from=7$/);
});
