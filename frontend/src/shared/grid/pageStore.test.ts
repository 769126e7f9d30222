import { expect, test, vi } from 'vitest';
import { PageStore } from './pageStore';

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
const numbers = (start: number, end: number) => Array.from({ length: end - start }, (_, index) => start + index);

test('loads the pages that are looked at, once', async () => {
  const load = vi.fn(async (start: number, end: number) => numbers(start, end));
  const store = new PageStore(load, () => {}, 100);
  store.show(950, 1020);
  store.show(951, 1021);
  await settle();
  expect(load.mock.calls.map(([start]) => start)).toEqual([900, 1000]);
  expect(store.at(1019)).toBe(1019);
  expect(store.at(0)).toBeUndefined();
});

test('a page that scrolls away while loading is aborted, and loaded again when looked at', async () => {
  const signals: AbortSignal[] = [];
  const load = (start: number, end: number, signal: AbortSignal) => {
    signals.push(signal);
    return start === 0 && signals.length === 1 ? new Promise<number[]>(() => {}) : Promise.resolve(numbers(start, end));
  };
  const store = new PageStore(load, () => {}, 100);
  store.show(0, 50);
  store.show(5000, 5050);
  expect(signals[0]?.aborted).toBe(true);
  store.show(0, 50);
  await settle();
  expect(store.at(3)).toBe(3);
});

test('a failed page can be tried again', async () => {
  let fail = true;
  const load = async (start: number, end: number) => {
    if (fail) throw new Error('no');
    return numbers(start, end);
  };
  const store = new PageStore(load, () => {}, 100);
  store.show(0, 10);
  await settle();
  expect(store.errorWithin(0, 10)).toBeInstanceOf(Error);
  fail = false;
  store.retry();
  store.show(0, 10);
  await settle();
  expect(store.at(5)).toBe(5);
});

test('of what is looked at any part that failed is told; one that is looked at again is tried again', async () => {
  const failing = new Set([100]);
  const load = async (start: number, end: number) => {
    if (failing.delete(start)) throw new Error('no');
    return numbers(start, end);
  };
  const store = new PageStore(load, () => {}, 100);
  store.show(50, 150);
  await settle();
  expect(store.errorWithin(50, 150)).toBeInstanceOf(Error);
  expect(store.errorWithin(50, 100)).toBeNull();
  store.show(500, 550);
  store.show(50, 150);
  await settle();
  expect(store.errorWithin(50, 150)).toBeNull();
  expect(store.at(120)).toBe(120);
});
