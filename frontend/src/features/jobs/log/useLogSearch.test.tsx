import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { serve } from '@/test/fakeApi';
import { LogStore } from './logStore';
import { type Find, useLogSearch } from './useLogSearch';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

/** A live log, and a search in it. */
function searching(find: Find, query = '') {
  const store = new LogStore();
  const grow = (text: string) =>
    store.append({ fd: 1, byteOff: store.next, next: store.next + text.length, timeMs: 0, text });
  grow('begin\n');
  const { result, rerender } = renderHook(() =>
    useLogSearch({ store, runId: 'r', attempt: undefined }, { query, find, matchCase: false, filter: 'all' }),
  );
  return { result, rerender, grow };
}

test('new lines are found although the log never pauses', async () => {
  const { result, rerender, grow } = searching('text', 'hit');
  await pass(500);
  grow('a hit\n');
  for (let tenth = 0; tenth < 12; tenth++) {
    grow('more\n');
    rerender();
    await pass(100);
  }
  expect(result.current.hits).toEqual([1]);
});

test('a search that takes long is not broken off by new lines, and goes on from where it was', async () => {
  const asked: (string | null)[] = [];
  serve('GET', 'runs/{id}/logs/search/', async (request: Request, url: URL) => {
    asked.push(url.searchParams.get('cursor'));
    await new Promise((later) => setTimeout(later, 5000));
    expect(request.signal.aborted).toBe(false);
    const line = asked.length;
    return { matches: [{ line, spans: [] }], next: `c${line}`, settled_lines: line, complete: true };
  });
  const { result, rerender, grow } = searching('errors');
  for (let second = 0; second < 4; second++) {
    grow('more\n');
    rerender();
    await pass(1000);
  }
  await pass(2000);
  expect(result.current.hits).toEqual([0]);
  await pass(6000);
  expect(result.current.hits).toEqual([0, 1]);
  expect(asked).toEqual([null, 'c1']);
  await pass(6000);
  expect(asked).toHaveLength(2);
});
