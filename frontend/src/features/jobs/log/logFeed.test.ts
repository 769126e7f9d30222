import { expect, test, vi } from 'vitest';
import { eventually } from '@/test/eventually';
import { LogFeed, type LogPage } from './logFeed';
import { type LogFrame, LogStore } from './logStore';

const frame = (byteOff: number, text: string): LogFrame => ({
  fd: 1,
  byteOff,
  next: byteOff + text.length,
  timeMs: 0,
  text,
});

/** A server whose log is `text`, read `size` bytes at a time. */
function server(initial: string, size = 8) {
  const state = { text: initial, eof: false, reads: 0 };
  const fetchPage = async (from: number): Promise<LogPage> => {
    state.reads++;
    const text = state.text.slice(from, from + size);
    const next = from + text.length;
    return { frames: text ? [frame(from, text)] : [], next, eof: state.eof && next === state.text.length };
  };
  return { state, fetchPage };
}

const text = (store: LogStore) => Array.from({ length: store.total }, (_, k) => store.line(k).plain).join('|');

test('reads the whole log page by page, then is live', async () => {
  const { fetchPage } = server('one\ntwo\nthree\nfour\n');
  const store = new LogStore();
  const feed = new LogFeed({ store, fetchPage, onChange: () => {} });
  feed.start();
  await eventually(() => expect(feed.state).toBe('live'));
  expect(text(store)).toBe('one|two|three|four');
  feed.stop();
});

test('a live frame after a hole makes it read the hole', async () => {
  const { state, fetchPage } = server('one\n');
  const store = new LogStore();
  const feed = new LogFeed({ store, fetchPage, onChange: () => {}, pollMs: 60_000 });
  feed.start();
  await eventually(() => expect(feed.state).toBe('live'));
  state.text = 'one\ntwo\nthree\n';
  feed.receive(frame(8, 'three\n'));
  await eventually(() => expect(text(store)).toBe('one|two|three'));
  feed.stop();
});

test('paused, it takes nothing; resumed, it misses nothing', async () => {
  const { state, fetchPage } = server('one\n');
  const store = new LogStore();
  const feed = new LogFeed({ store, fetchPage, onChange: () => {}, pollMs: 60_000 });
  feed.start();
  await eventually(() => expect(feed.state).toBe('live'));
  feed.pause();
  state.text = 'one\ntwo\n';
  feed.receive(frame(4, 'two\n'));
  expect(text(store)).toBe('one');
  feed.resume();
  await eventually(() => expect(text(store)).toBe('one|two'));
  feed.stop();
});

test('the end of the log ends the feed', async () => {
  const { state, fetchPage } = server('one\n');
  state.eof = true;
  const store = new LogStore();
  const feed = new LogFeed({ store, fetchPage, onChange: () => {} });
  feed.start();
  await eventually(() => expect(feed.state).toBe('ended'));
  const reads = state.reads;
  feed.pause();
  expect(feed.state).toBe('ended');
  expect(state.reads).toBe(reads);
});

test('a failed read is reported and tried again', async () => {
  const { fetchPage } = server('one\n');
  let failures = 1;
  const store = new LogStore();
  const flaky = (from: number) => (failures-- > 0 ? Promise.reject(new TypeError('offline')) : fetchPage(from));
  const states: string[] = [];
  const feed = new LogFeed({ store, fetchPage: flaky, onChange: () => states.push(feed.state), pollMs: 2 });
  feed.start();
  await eventually(() => expect(text(store)).toBe('one'));
  expect(states).toContain('failed');
  feed.stop();
});

test('a poll that finds nothing changes nothing', async () => {
  const { state, fetchPage } = server('one\n');
  const onChange = vi.fn();
  const feed = new LogFeed({ store: new LogStore(), fetchPage, onChange, pollMs: 1 });
  feed.start();
  await eventually(() => expect(feed.state).toBe('live'));
  onChange.mockClear();
  const { reads } = state;
  await eventually(() => expect(state.reads).toBeGreaterThan(reads + 2));
  expect(onChange).not.toHaveBeenCalled();
  feed.stop();
});
