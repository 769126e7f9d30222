import { describe, expect, test, vi } from 'vitest';
import { FakeTask, ids, open, slot, withFreshBrowser } from './fakeTask';

withFreshBrowser();

describe('batches', () => {
  test('the next batch is here before it is asked for', async () => {
    const task = new FakeTask(6);
    const bench = open(task);
    await bench.start();
    await vi.advanceTimersByTimeAsync(1);
    expect(ids(bench)).toEqual(['s0', 's1']);
    expect(task.given).toBe(4);
    await bench.submit({}, 5, 1000);
    expect(ids(bench)).toEqual(['s2', 's3']);
  });

  test('what an auditor sent back comes first, then what was leased before', async () => {
    const task = new FakeTask(2);
    task.returnedWork = [slot(10, { returned_comment: 'a 7, not a 1' })];
    task.leasedWork = [slot(20)];
    const bench = open(task);
    await bench.start();
    expect(bench.current).toMatchObject({ returned: true, slots: [{ id: 's10' }] });
    await bench.submit({}, 5, 0);
    expect(ids(bench)).toEqual(['s20']);
  });

  test('what is sent back while the page is open comes before it says that nothing is left', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    task.returnedWork = [slot(0, { lease_no: 2, state: 'returned' })];
    await bench.submit({}, 5, 0);
    // Work that is still held back or on its way is not offered again.
    expect(bench.state).toBe('empty');
    bench.retry();
    await vi.advanceTimersByTimeAsync(1);
    expect(bench.current).toMatchObject({ returned: true, slots: [{ id: 's0', lease_no: 2 }] });
  });

  test('when nothing is left it says so', async () => {
    const bench = open(new FakeTask(0));
    await bench.start();
    expect(bench.state).toBe('empty');
  });
});

describe('submitting', () => {
  test('every image gets its own class or the preset, and a share of the time', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    await bench.submit({ s1: [8] }, 5, 3000);
    expect(task.received).toMatchObject([
      { slot: 's0', label_id: 5, active_ms: 1500 },
      { slot: 's1', label_id: 8 },
    ]);
  });

  test('a batch taken back is not sent, and keeps its classes', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await bench.submit({ s1: [8] }, 5, 0);
    expect(await bench.back({ s2: [3] }, 4)).toBe(true);
    expect(bench.current).toMatchObject({ labels: { s1: [8] }, preset: 5 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(task.received).toEqual([]);
    await bench.submit({ s1: [9] }, 5, 0);
    expect(bench.current).toMatchObject({ labels: { s2: [3] }, preset: 4 });
  });

  test('after the hold it is sent once and cannot be taken back', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await bench.submit({}, 5, 0);
    await vi.advanceTimersByTimeAsync(8000);
    expect(task.received).toHaveLength(2);
    expect(await bench.back({}, null)).toBe(false);
  });

  test('the last batch is sent at once: there is no screen left to take it back on', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    await bench.submit({}, 5, 0);
    expect(bench.state).toBe('empty');
    expect(bench.held).toBeNull();
    expect(task.received).toHaveLength(2);
  });

  test('a lost lease is reported, the answer was still sent', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    await vi.advanceTimersByTimeAsync(1);
    task.lost.add('s1');
    await bench.submit({}, 5, 0);
    expect(bench.refused).toEqual([{ slot: 's1', ok: false, code: 'stale_lease' }]);
  });

  test('what shows counts is told when images were leased and when they were taken', async () => {
    const onCounts = vi.fn();
    const task = new FakeTask(2);
    const bench = open(task, { onCounts });
    await bench.start();
    await vi.advanceTimersByTimeAsync(1);
    const leased = onCounts.mock.calls.length;
    expect(leased).toBeGreaterThan(0);
    await bench.submit({}, 5, 0);
    expect(onCounts.mock.calls.length).toBeGreaterThan(leased);
  });
});
