import { expect, test, vi } from 'vitest';
import type { Entry, EntryListing, EntryQuery } from '@/api/contract/datasets';
import { EntrySource } from './entrySource';

const TOTAL = 1000;
const entry = (index: number) => ({ path: `${index}.png` }) as Entry;

/** Answers like the server: by number. */
function server() {
  return vi.fn(async ({ limit = 50, offset = 0 }: EntryQuery, signal?: AbortSignal): Promise<EntryListing> => {
    signal?.throwIfAborted();
    const start = offset;
    const end = Math.min(TOTAL, start + limit);
    const results = Array.from({ length: Math.max(0, end - start) }, (_, index) => entry(start + index));
    return {
      folders: [],
      results,
      next: end < TOTAL ? String(end) : null,
      total: TOTAL,
      total_is_exact: true,
      counted_before: null,
    };
  });
}

test('a jump is one request, however far it goes', async () => {
  const fetchPage = server();
  const source = new EntrySource(fetchPage, 100);
  expect((await source.load(900, 1000))[0]?.path).toBe('900.png');
  expect(fetchPage).toHaveBeenCalledTimes(1);
});

test('a jump that nobody waits for any more stops', async () => {
  const source = new EntrySource(server(), 100);
  const abort = new AbortController();
  abort.abort();
  await expect(source.load(900, 1000, abort.signal)).rejects.toThrow();
});

test('neighbours of an entry are found across pages, and end with the list', async () => {
  const source = new EntrySource(server(), 100);
  await source.load(0, 100);
  expect((await source.entryAt(100))?.path).toBe('100.png');
  expect(await source.entryAt(TOTAL)).toBeNull();
  expect(await source.entryAt(-1)).toBeNull();
});

test('a file that was opened by its address is found in a few pages', async () => {
  const paths = Array.from({ length: 5000 }, (_, index) => `${String(index).padStart(4, '0')}.png`).concat([
    'ﬀ.png',
    '😀.png',
  ]);
  const fetchPage = vi.fn(async ({ limit = 50, offset = 0 }: EntryQuery) => {
    const results = paths.slice(offset, offset + limit).map((path) => ({ path }) as Entry);
    return { folders: [], results, next: null, total: paths.length, total_is_exact: true, counted_before: null };
  });
  const source = new EntrySource(fetchPage, 100);

  expect(await source.placeOf('3456.png', paths.length)).toBe(3456);
  expect(fetchPage.mock.calls.length).toBeLessThanOrEqual(6);
  // By bytes: in UTF-16, the smiley would come before the ligature.
  expect(await source.placeOf('😀.png', paths.length)).toBe(5001);
  expect(await source.placeOf('3456a.png', paths.length)).toBeNull();
});
