import { expect, test, vi } from 'vitest';
import type { LeasedSlot } from '@/api/contract/labeling';
import { ids, kept, slot, withFreshBrowser } from '../workspace/fakeTask';
import { ClassBench, type ClassBenchOptions } from './classBench';
import { FakePictures } from './fakePictures';
import { ObjectBench } from './objectBench';

const parts = (task: FakePictures) => ({
  api: task.api(),
  store: kept.store,
  person: 'ann',
  task: 't',
  batchSize: 2,
  newKey: () => `k${kept.keys++}`,
  onChange: () => {},
});
const open = (task: FakePictures, extra: Partial<ClassBenchOptions> = {}) =>
  new ClassBench({ ...parts(task), clean: (document) => document, ...extra });
const sides = { width: 64, height: 48 };
const withDocument = (n: number, document: object, extra: Partial<LeasedSlot> = {}) =>
  slot(n, { ...sides, document: { version: 2, ...sides, ...document } as never, ...extra });

withFreshBrowser();

test('each picture is answered by a document with its classes and all that the grid does not show', async () => {
  const task = new FakePictures(0);
  task.leasedWork = [withDocument(0, { attributes: { 4: 'dusk' } }), slot(1, sides)];
  const bench = open(task);
  await bench.start();
  expect(ids(bench as never)).toEqual(['s0', 's1']);
  await bench.submit({ s0: [3, 1] }, 2, 1000);
  await vi.advanceTimersByTimeAsync(8000);
  expect(task.received).toMatchObject([
    {
      slot: 's0',
      lease_no: 1,
      active_ms: 500,
      document: { version: 2, ...sides, labels: [1, 3], attributes: { 4: 'dusk' } },
    },
    { slot: 's1', active_ms: 500, document: { version: 2, ...sides, labels: [2] } },
  ]);
  expect(task.received[0]).not.toHaveProperty('label_id');
});

test('the classes of a pre-label are chosen already', async () => {
  const task = new FakePictures(0);
  task.leasedWork = [withDocument(0, { labels: [1, 2] }), slot(1, sides)];
  const bench = open(task);
  await bench.start();
  expect(bench.current?.labels).toEqual({ s0: [1, 2] });
});

test('classes chosen here are a draft on the server, and stand in the single picture, too', async () => {
  const task = new FakePictures(2);
  const grid = open(task);
  await grid.start();
  grid.choose('s1', [2, 1]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(task.classes).toEqual([['s1', [1, 2]]]);
  grid.stop();
  const again = new FakePictures(0);
  again.leasedWork = [slot(1, sides)];
  const single = new ObjectBench(parts(again));
  await single.start();
  expect(single.current?.document.labels).toEqual([1, 2]);
});

test('pictures that the server refuses come next, in a batch with their classes and the reason', async () => {
  const task = new FakePictures(6);
  task.invalid = new Set(['s0', 's1']);
  const onBroughtBack = vi.fn();
  const bench = open(task, { onBroughtBack });
  await bench.start();
  await bench.submit({ s0: [1, 2], s1: [3] }, null, 0);
  await vi.advanceTimersByTimeAsync(8000);
  expect(onBroughtBack).toHaveBeenCalledWith(2);
  expect(bench.submitted).toBe(0);
  await bench.submit({ s2: [1], s3: [1] }, null, 0);
  expect(bench.current).toMatchObject({ labels: { s0: [1, 2], s1: [3] }, refusals: ['Too far out.'] });
});

test('a batch that is taken back has its classes', async () => {
  const bench = open(new FakePictures(6));
  await bench.start();
  await bench.submit({ s0: [1, 2] }, 3, 0);
  expect(await bench.back({}, null)).toBe(true);
  expect(bench.current).toMatchObject({ labels: { s0: [1, 2] }, preset: 3 });
});

test('a skip that is taken back brings the picture with the classes of its pre-label', async () => {
  const task = new FakePictures(0);
  task.leasedWork = [withDocument(0, { labels: [1] }), slot(1, sides)];
  const bench = open(task);
  await bench.start();
  const skipped = (await bench.skip('s0')) as LeasedSlot;
  await bench.unskip(skipped);
  expect(ids(bench as never)).toEqual(['s1', 's0']);
  expect(bench.current?.labels).toEqual({ s0: [1] });
});
