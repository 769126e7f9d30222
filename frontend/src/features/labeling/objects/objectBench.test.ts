import { expect, test, vi } from 'vitest';
import { objectsOf as objectsIn } from '../canvas/model';
import { kept, slot, withFreshBrowser } from '../workspace/fakeTask';
import type { DocumentTableOptions, ObjectDraft } from './documentTable';
import { FakePictures } from './fakePictures';
import { ObjectBench } from './objectBench';

const open = (task: FakePictures, extra: Partial<DocumentTableOptions> = {}) =>
  new ObjectBench({
    api: task.api(),
    store: kept.store,
    person: 'ann',
    task: 't',
    batchSize: 4,
    newKey: () => `k${kept.keys++}`,
    onChange: () => {},
    ...extra,
  });

const drawing = (count: number, history: unknown = null): ObjectDraft => ({
  document: {
    version: 2,
    width: 64,
    height: 48,
    objects: Array.from({ length: count }, (_, n) => ({
      id: `${n}`.padStart(16, '0'),
      label: 1,
      kind: 'box',
      box: [n, 0, 5, 5],
    })) as never[],
  },
  history,
});
const objectsOf = (bench: ObjectBench) => bench.current && objectsIn(bench.current.document).length;

withFreshBrowser();

test('one picture is shown, others are here already', async () => {
  const bench = open(new FakePictures(10));
  await bench.start();
  expect(bench.current?.id).toBe('s0');
  expect(bench.upcoming.map(({ id }) => id)).toEqual(['s1', 's2', 's3']);
});

test('Enter shows the next picture at once, and the answer leaves after a while', async () => {
  const task = new FakePictures(10);
  const bench = open(task);
  await bench.start();
  await bench.submit(drawing(2), 900);
  expect(bench.current?.id).toBe('s1');
  expect(task.received).toEqual([]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(task.received).toMatchObject([{ slot: 's0', lease_no: 1, active_ms: 900, document: drawing(2).document }]);
  expect(task.received[0]).not.toHaveProperty('label_id');
});

test('an empty picture is an answer', async () => {
  const task = new FakePictures(1);
  const bench = open(task);
  await bench.start();
  await bench.submit(drawing(0), 100);
  expect(task.received).toMatchObject([{ slot: 's0', document: { version: 2, width: 64 } }]);
});

test('the picture before comes back as it was left, and the one on the screen keeps its objects', async () => {
  const bench = open(new FakePictures(10));
  await bench.start();
  await bench.submit(drawing(2), 0);
  expect(await bench.back(drawing(1))).toBe(true);
  expect([bench.current?.id, objectsOf(bench)]).toEqual(['s0', 2]);
  await bench.submit(drawing(3), 0);
  expect([bench.current?.id, objectsOf(bench)]).toEqual(['s1', 1]);
});

test('a reload brings back the objects and the steps of undo', async () => {
  const before = open(new FakePictures(10));
  await before.start();
  before.draft('s0', drawing(3, { steps: [1, 2] }));
  await vi.advanceTimersByTimeAsync(2000);
  const task = new FakePictures(10);
  const after = open(task);
  await after.start();
  expect(objectsOf(after)).toBe(3);
  expect(after.current?.history).toEqual({ steps: [1, 2] });
});

test('drafts go to the server every 15 seconds although the drawing goes on, and at once when the page is left', async () => {
  const task = new FakePictures(10);
  const bench = open(task);
  await bench.start();
  for (let count = 1; count <= 20; count++) {
    bench.draft('s0', drawing(count));
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(task.documents).toEqual([['s0', 15, 15]]);
  bench.pageHidden();
  await vi.advanceTimersByTimeAsync(0);
  expect(task.documents.at(-1)).toEqual(['s0', 20, 20]);
});

test('a full disk is said, and the server gets the draft at once', async () => {
  const task = new FakePictures(10);
  const bench = open(task);
  await bench.start();
  vi.spyOn(kept.store, 'set').mockRejectedValue(new DOMException('', 'QuotaExceededError'));
  bench.draft('s0', drawing(1));
  await vi.advanceTimersByTimeAsync(2000);
  expect(bench.durable).toBe(false);
  expect(task.documents).toEqual([['s0', 1, 1]]);
});

test('a document that the server refuses comes back with its objects and its faults', async () => {
  const task = new FakePictures(10);
  task.invalid.add('s0');
  const told = vi.fn();
  const bench = open(task, { onBroughtBack: told });
  await bench.start();
  await bench.submit(drawing(2, { steps: [1] }), 0);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(told).toHaveBeenCalledWith(1);
  expect(bench.refused).toEqual([]);
  await bench.submit(drawing(0), 0);
  expect(bench.current).toMatchObject({ id: 's0', history: { steps: [1] }, problems: [{ pointer: 'objects/0/box' }] });
  expect(objectsOf(bench)).toBe(2);
});

test('a document of an earlier visit that the server refuses is a draft again', async () => {
  const first = new FakePictures(10);
  first.offline = true;
  const before = open(first);
  await before.start();
  await before.submit(drawing(2), 0);
  before.stop();
  await vi.advanceTimersByTimeAsync(0);
  const task = new FakePictures(0);
  task.invalid.add('s0');
  task.leasedWork = [slot(0)];
  const after = open(task);
  await after.start();
  expect([after.current?.id, objectsOf(after)]).toEqual(['s0', 2]);
});

test('objects go on to the next picture, unless it has some', async () => {
  const bench = open(new FakePictures(10));
  await bench.start();
  expect(bench.propagate({ objects: objectsIn(drawing(2).document), relations: [] })).toBe(true);
  expect(bench.propagate({ objects: objectsIn(drawing(1).document), relations: [] })).toBe(false);
  await bench.submit(drawing(0), 0);
  expect([bench.current?.id, objectsOf(bench)]).toEqual(['s1', 2]);
});
