import { expect, test, vi } from 'vitest';
import type { Entry, EntryListing, EntryQuery } from '@/api/contract/datasets';
import { EntrySource } from './entrySource';

const TOTAL = 1000;
const entry = (index: number) => ({ path: `${index}.png` }) as Entry;

/** Answers like the server: by cursor. */
function server() {
  return vi.fn(async ({ limit = 50, cursor }: EntryQuery, signal?: AbortSignal): Promise<EntryListing> => {
    signal?.throwIfAborted();
    const start = Number(cursor ?? 0);
    const end = Math.min(TOTAL, start + limit);
    const results = Array.from({ length: Math.max(0, end - start) }, (_, index) => entry(start + index));
    return { folders: [], results, next: end < TOTAL ? String(end) : null, total: TOTAL };
  });
}

test('a jump walks the pages between once', async () => {
  const fetchPage = server();
  const source = new EntrySource(fetchPage, 100);
  expect((await source.load(300, 400))[0]?.path).toBe('300.png');
  fetchPage.mockClear();
  expect((await source.load(400, 500))[0]?.path).toBe('400.png');
  expect(fetchPage).toHaveBeenCalledTimes(1);
});

test('a walk that nobody waits for any more stops', async () => {
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
