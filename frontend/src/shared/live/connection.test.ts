import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Connection, connection as ours, whenReachable } from './connection';

let answers: boolean[];
let asked: number;
let stop: () => void;
let connection: Connection;

beforeEach(() => {
  vi.useFakeTimers();
  answers = [];
  asked = 0;
  connection = new Connection(async () => {
    asked += 1;
    return answers.shift() ?? false;
  });
  stop = connection.listen();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});
const settle = () => vi.advanceTimersByTimeAsync(0);
const kind = () => connection.current().kind;

test('a request without an answer is no proof: the server is asked', async () => {
  answers = [true];
  connection.missed();
  await settle();
  expect([kind(), asked]).toEqual(['online', 1]);
  connection.missed();
  await settle();
  expect([kind(), asked]).toEqual(['unreachable', 2]);
});

test('it is asked again at growing intervals, and what was heard last is kept', async () => {
  const heardAtMs = Date.now();
  connection.heard();
  await vi.advanceTimersByTimeAsync(60_000);
  connection.missed();
  await settle();
  expect(connection.current()).toEqual({ kind: 'unreachable', heardAtMs, retryAtMs: Date.now() + 2000 });
  await vi.advanceTimersByTimeAsync(2000 + 4000 + 8000);
  expect(asked).toBe(4);
  await vi.advanceTimersByTimeAsync(16_000 + 30_000 + 30_000);
  expect(asked).toBe(7);
  answers = [true];
  await vi.advanceTimersByTimeAsync(30_000);
  expect(connection.current()).toEqual({ kind: 'online', heardAtMs: Date.now(), retryAtMs: null });
});

test('many failures at once ask once, and a person may ask before it is time', async () => {
  for (let n = 0; n < 5; n += 1) connection.missed();
  await settle();
  expect(asked).toBe(1);
  answers = [true];
  await expect(connection.check()).resolves.toBe(true);
  expect(kind()).toBe('online');
});

test('any answer ends it, and who waited goes on', async () => {
  connection.missed();
  await settle();
  const waited = vi.fn();
  void connection.returned().then(waited);
  await settle();
  expect(waited).not.toHaveBeenCalled();
  connection.heard();
  await settle();
  expect(waited).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
});

test('a browser without a network says so, and its coming back is tried at once', async () => {
  const online = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  window.dispatchEvent(new Event('offline'));
  await settle();
  expect(kind()).toBe('offline');
  online.mockRestore();
  answers = [true];
  window.dispatchEvent(new Event('online'));
  await settle();
  expect(kind()).toBe('online');
});

test('a part that failed to load is asked for again, also when the server answers by then', async () => {
  const check = vi.spyOn(ours, 'check').mockResolvedValue(true);
  const load = vi.fn().mockRejectedValueOnce(new TypeError('no network')).mockResolvedValue('part');
  await expect(whenReachable(load)()).resolves.toBe('part');
  // A part that is not there at all is an error.
  load.mockReset().mockRejectedValue(new TypeError('gone'));
  await expect(whenReachable(load)()).rejects.toThrow('gone');
  expect(load).toHaveBeenCalledTimes(2);
  check.mockRestore();
});

test('every part of the portal that comes later waits for the server', () => {
  const sources = (readdirSync('src', { recursive: true }) as string[]).filter(
    (path) => /\.tsx?$/.test(path) && !/\.test\.|^i18n|^test/.test(path),
  );
  const lines = sources.flatMap((path) => readFileSync(`src/${path}`, 'utf8').split('\n'));
  const later = lines.filter((line) => /(?<!typeof )\bimport\(/.test(line));
  expect(later.length).toBeGreaterThan(10);
  expect(later.filter((line) => !line.includes('whenReachable('))).toEqual([]);
});
