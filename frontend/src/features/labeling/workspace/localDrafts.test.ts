import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LeasedSlot } from '@/api/contract/labeling';
import { type KeyValue, memoryStore } from './kv';
import { LocalDrafts } from './localDrafts';

const SLOT = { id: 's1', draft_seq: 0 } as LeasedSlot;
const KEY = 'draft/ada/t1/s1';
const packing = {
  ofServer: () => 'the server’s',
  pack: (value: string) => ({ value }),
  unpack: (entry: object) => (entry as { value: string }).value,
};

function drafts(store: KeyValue, onKept: (kept: boolean) => void = () => {}): LocalDrafts<string> {
  return new LocalDrafts({ store, person: 'ada', task: 't1', packing, pauseMs: 60_000, onKept });
}

/** A disk that never ends a write, as in a page that the browser ends. */
const stuck = (store: KeyValue): KeyValue => ({ ...store, set: () => new Promise<void>(() => {}) });

beforeEach(() => localStorage.clear());
afterEach(() => localStorage.clear());

test('what was not written as the page ended is there in the next one', async () => {
  const store = memoryStore();
  const leaving = drafts(stuck(store));
  leaving.set('s1', 'first');
  leaving.set('s1', 'last');
  leaving.leave();
  expect((await drafts(store).read([SLOT])).get('s1')).toEqual({ value: 'last', unsent: 2 });
  // The slower store has it now.
  expect(localStorage.length).toBe(0);
  expect((await drafts(store).read([SLOT])).get('s1')).toEqual({ value: 'last', unsent: 2 });
});

test('a write that has begun counts as not written', async () => {
  const store = memoryStore();
  const leaving = drafts(stuck(store));
  leaving.set('s1', 'last');
  void leaving.flush();
  leaving.leave();
  expect((await drafts(store).read([SLOT])).get('s1')?.value).toBe('last');
});

test('once it is written nothing is kept twice', async () => {
  const store = memoryStore();
  const leaving = drafts(store);
  leaving.set('s1', 'last');
  leaving.leave();
  await leaving.flush();
  expect(localStorage.length).toBe(0);
  expect((await store.entries(KEY)).length).toBe(1);
});

test('an older page’s draft does not come over a newer one', async () => {
  const store = memoryStore();
  localStorage.setItem(KEY, JSON.stringify({ value: 'older', sequence: 1 }));
  await store.set(KEY, { value: 'newer', sequence: 2 });
  expect((await drafts(store).read([SLOT])).get('s1')?.value).toBe('newer');
  expect(localStorage.length).toBe(0);
});

test('the server’s draft counts where it was saved more often', async () => {
  localStorage.setItem(KEY, JSON.stringify({ value: 'older', sequence: 1 }));
  const read = await drafts(memoryStore()).read([{ ...SLOT, draft_seq: 4 }]);
  expect(read.get('s1')).toEqual({ value: 'the server’s', unsent: null });
});

test.each(['', 'null', '{"sequence":"x"}', '{', '[]'])('a kept draft that reads %j is none', async (text) => {
  localStorage.setItem(KEY, text);
  expect((await drafts(memoryStore()).read([SLOT])).get('s1')?.value).toBe('the server’s');
});

test('a submitted image leaves nothing behind', async () => {
  const store = memoryStore();
  const leaving = drafts(stuck(store));
  leaving.set('s1', 'last');
  leaving.leave();
  await leaving.forget(['s1']);
  expect(localStorage.length).toBe(0);
  // The page goes while the write of it, which has begun, has not ended.
  leaving.leave();
  expect(localStorage.length).toBe(0);
});

test('a full disk is told, and what was kept stays', async () => {
  const store = memoryStore();
  const kept: boolean[] = [];
  const leaving = drafts({ ...store, set: () => Promise.reject(new Error('full')) }, (isKept) => kept.push(isKept));
  leaving.set('s1', 'last');
  leaving.leave();
  await leaving.flush();
  await Promise.resolve();
  expect(kept).toEqual([false]);
  expect((await drafts(store).read([SLOT])).get('s1')?.value).toBe('last');
});
