import { describe, expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { FakeTask, ids, kept, open, slot, withFreshBrowser } from './fakeTask';
import { memoryStore } from './kv';
import { saveStateOf } from './saveState';
import type { Workbench } from './workbench';

withFreshBrowser();

describe('nothing is lost', () => {
  test('offline, batches wait and are sent with the same keys when the server is back', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    task.offline = true;
    await bench.submit({}, 5, 0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(bench.outbox.waiting).toBe(1);
    task.offline = false;
    await vi.advanceTimersByTimeAsync(6000);
    expect(task.received.map((one) => one.idempotency_key)).toEqual(['k0', 'k1']);
    expect(bench.outbox.waiting).toBe(0);
  });

  test('whose right was taken is told at once; the work is kept, and sent when they have it again', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    task.refusal = new ApiError({ status: 404, code: 'not_found', title: 'Nothing.' });
    await bench.submit({}, 5, 0);
    bench.draft('s2', 7);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(bench.state).toBe('failed');
    expect(bench.retrying).toBe(false);
    bench.retry();
    await vi.advanceTimersByTimeAsync(1);
    expect(bench.state).toBe('failed');

    task.refusal = null;
    task.leasedWork = [slot(2), slot(3)];
    bench.retry();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(task.received.map((one) => one.slot)).toEqual(['s0', 's1']);
    expect(bench.current).toMatchObject({ slots: [{ id: 's2' }, { id: 's3' }], labels: { s2: [7] } });
    expect(saveStateOf(bench)).toBe('saved');
    bench.stop();
  });

  test('what one has not sent waits for them, and is not sent or shown to who labels next at this machine', async () => {
    const task = new FakeTask(4);
    const ann = open(task);
    await ann.start();
    task.offline = true;
    await ann.submit({}, 5, 0);
    ann.draft('s2', 7);
    await vi.advanceTimersByTimeAsync(10_000);
    ann.stop();
    task.offline = false;

    task.leasedWork = [slot(2)];
    const bo = open(task, { person: 'bo' });
    await bo.start();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(task.received).toEqual([]);
    expect(bo.current).toMatchObject({ slots: [{ id: 's2' }], labels: {} });
    bo.stop();

    await open(task).start();
    expect(task.received.map((one) => one.slot)).toEqual(['s0', 's1']);
  });

  test('a page that goes away sends the held batch before it is gone', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await bench.submit({ s0: [3] }, 5, 0);
    bench.pageHidden();
    // Nothing was waited for: a closing page runs no timer and reads no disk.
    expect(task.received.map((one) => one.slot)).toEqual(['s0', 's1']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(task.received).toHaveLength(2);
  });

  test('a page that goes away does not wait for the answer to an earlier batch', async () => {
    const task = new FakeTask(6);
    const bench = open(task);
    await bench.start();
    await bench.submit({}, 5, 0);
    task.silent = true;
    await bench.submit({}, 6, 0);
    expect(task.received).toHaveLength(2);
    bench.pageHidden();
    expect(task.received.map((one) => one.slot)).toEqual(['s0', 's1', 's2', 's3']);
  });

  test('a machine that cannot keep the batch sends it at once', async () => {
    kept.store = { ...memoryStore(), set: () => Promise.reject(new Error('disk full')) };
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await bench.submit({}, 5, 0);
    expect(task.received).toHaveLength(2);
  });

  test('only what the server has answered for is called saved', async () => {
    const task = new FakeTask(4);
    kept.store = { ...memoryStore(), durable: true };
    const bench = open(task);
    await bench.start();
    expect(saveStateOf(bench)).toBe('saved');
    await bench.submit({}, 5, 0);
    expect(saveStateOf(bench)).toBe('held');
    task.offline = true;
    await vi.advanceTimersByTimeAsync(8000);
    expect(saveStateOf(bench)).toBe('local');
    task.offline = false;
    await vi.advanceTimersByTimeAsync(6000);
    expect(saveStateOf(bench)).toBe('saved');
  });

  test('the last batch of a task is called saved as soon as the server has it', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    bench.draft('s0', 1);
    bench.draft('s1', 2);
    await bench.submit({ s0: [1], s1: [2] }, null, 0);
    expect(bench.state).toBe('empty');
    expect(task.received).toHaveLength(2);
    expect(saveStateOf(bench)).toBe('saved');
  });

  test('offline it says how many images are kept here, drafts too, and stops when they are sent', async () => {
    const task = new FakeTask(6);
    kept.store = { ...memoryStore(), durable: true };
    const bench = open(task);
    await bench.start();
    task.offline = true;
    bench.draft('s0', 1);
    await vi.advanceTimersByTimeAsync(3000);
    expect(saveStateOf(bench)).toBe('local');
    expect(bench.unsent.size).toBe(1);
    await bench.submit({ s0: [1] }, 5, 0);
    await vi.advanceTimersByTimeAsync(9000);
    expect(bench.unsent).toEqual(new Set(['s0', 's1']));
    bench.draft('s2', 4);
    await vi.advanceTimersByTimeAsync(3000);
    expect(bench.unsent.size).toBe(3);
    task.offline = false;
    bench.online();
    await vi.advanceTimersByTimeAsync(1);
    expect(saveStateOf(bench)).toBe('saved');
    expect(bench.unsent.size).toBe(0);
    expect(task.drafts.at(-1)).toEqual(['s2', 1, 4]);
  });

  test('a browser that does not say when it is online again asks every few seconds', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    task.offline = true;
    bench.draft('s0', 1);
    await vi.advanceTimersByTimeAsync(3000);
    task.offline = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect(saveStateOf(bench)).toBe('saved');
  });

  test('drafts that could not be sent and were then submitted are nothing to wait for', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    task.offline = true;
    bench.draft('s0', 1);
    await vi.advanceTimersByTimeAsync(3000);
    task.offline = false;
    await bench.submit({ s0: [1] }, 5, 0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(saveStateOf(bench)).toBe('saved');
  });

  test('a draft that only this machine has is sent by the next visit', async () => {
    const task = new FakeTask(0);
    task.leasedWork = [slot(1)];
    const first = open(task);
    await first.start();
    first.draft('s1', 7);
    const second = open(task);
    await second.start();
    expect(saveStateOf(second)).toBe('saving');
    await vi.advanceTimersByTimeAsync(2000);
    expect(task.drafts).toContainEqual(['s1', 1, 7]);
    expect(saveStateOf(second)).toBe('saved');
  });

  test('a class changed while its draft is on its way is sent with a number of its own', async () => {
    const task = new FakeTask(2);
    const answers: (() => void)[] = [];
    task.saveDraft = async (one, sequence, labelId) => {
      task.drafts.push([one.id, sequence, labelId]);
      await new Promise<void>((resolve) => answers.push(resolve));
    };
    const bench = open(task);
    await bench.start();
    bench.draft('s0', 1);
    await vi.advanceTimersByTimeAsync(2000);
    bench.draft('s0', 2);
    await vi.advanceTimersByTimeAsync(2000);
    expect(task.drafts).toEqual([
      ['s0', 1, 1],
      ['s0', 2, 2],
    ]);
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(1);
    expect(saveStateOf(bench)).toBe('saving');
    answers[1]?.();
    await vi.advanceTimersByTimeAsync(1);
    expect(saveStateOf(bench)).toBe('saved');
  });

  test('a page opened offline asks for the work of before when it is online', async () => {
    const task = new FakeTask(0);
    task.leasedWork = [slot(1)];
    const there = task.takeUp;
    task.takeUp = () => Promise.reject(new TypeError('offline'));
    const bench = open(task);
    await bench.start();
    expect(bench.state).toBe('failed');
    task.takeUp = there;
    bench.online();
    await vi.advanceTimersByTimeAsync(1);
    expect(ids(bench)).toEqual(['s1']);
  });

  test('without a disk nothing is called kept on this computer', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    task.offline = true;
    await bench.submit({}, 5, 0);
    expect(saveStateOf(bench)).toBe('unsafe');
  });

  test('a tab closed right after Enter: the next visit sends the batch', async () => {
    const task = new FakeTask(4);
    const first = open(task);
    await first.start();
    await first.submit({ s0: [3] }, 5, 0);
    const second = open(task);
    await second.start();
    expect(task.received).toMatchObject([
      { slot: 's0', label_id: 3 },
      { slot: 's1', label_id: 5 },
    ]);
  });

  test('classes chosen before a crash are there again, newer than the server’s draft', async () => {
    const task = new FakeTask(0);
    task.leasedWork = [slot(1, { draft: { label_id: 1 } }), slot(2, { draft: { label_id: 2 } })];
    const first = open(task);
    await first.start();
    first.draft('s1', 7);
    const second = open(task);
    await second.start();
    expect(second.current?.labels).toEqual({ s1: [7], s2: [2] });
  });

  test('a draft saved elsewhere since then is newer than the one on this machine', async () => {
    const task = new FakeTask(0);
    task.leasedWork = [slot(1)];
    const first = open(task);
    await first.start();
    first.draft('s1', 7);
    task.leasedWork = [slot(1, { draft: { label_id: 3 }, draft_seq: 5 })];
    const second = open(task);
    await second.start();
    expect(second.current?.labels).toEqual({ s1: [3] });
    second.draft('s1', 4);
    await vi.advanceTimersByTimeAsync(2000);
    expect(task.drafts.at(-1)).toEqual(['s1', 6, 4]);
  });

  test('drafts go to the server together, the last class of each', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    bench.draft('s0', 1);
    bench.draft('s0', 2);
    bench.draft('s1', 3);
    expect(bench.unsent.size).toBe(2);
    await vi.advanceTimersByTimeAsync(2000);
    expect(task.drafts).toEqual([
      ['s0', 2, 2],
      ['s1', 1, 3],
    ]);
    expect(bench.unsent.size).toBe(0);
  });

  test('a page that failed for want of a server goes on by itself', async () => {
    const task = new FakeTask(2);
    const there = task.lease;
    task.lease = () => Promise.reject(new TypeError('offline'));
    const states: string[] = [];
    const bench: Workbench = open(task, { onChange: () => bench && states.push(bench.state) });
    await bench.start();
    expect([bench.state, bench.retrying]).toEqual(['failed', true]);
    states.length = 0;
    await vi.advanceTimersByTimeAsync(11_000);
    // The text of the page stands still while it asks.
    expect(new Set(states)).toEqual(new Set(['failed']));
    task.lease = there;
    await vi.advanceTimersByTimeAsync(5000);
    expect(ids(bench)).toEqual(['s0', 's1']);
  });

  test('a page that may not label does not ask again and again', async () => {
    const task = new FakeTask(2);
    const lease = vi.fn(() => Promise.reject(new ApiError({ status: 403, code: 'role_too_low', title: '' })));
    task.lease = lease;
    const bench = open(task);
    await bench.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([bench.state, bench.retrying, lease.mock.calls.length]).toEqual(['failed', false, 1]);
  });

  test('leaving tells the server once, and asks for nothing more', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await vi.advanceTimersByTimeAsync(1);
    bench.stop();
    bench.leave();
    expect(task.left).toBe(1);
    await bench.heartbeat();
    expect(task.asked).toEqual(['s0', 's1']);
  });

  test('a second window sends nothing that the first may still take back, and sends it when that one is gone', async () => {
    const task = new FakeTask(4);
    const opened = new Set(['one']);
    const isOpen = async (page: string) => opened.has(page);
    const first = open(task, { page: 'one', isOpen });
    await first.start();
    await first.submit({}, 5, 0);
    const second = open(task, { page: 'two', isOpen });
    await second.start();
    expect(task.received).toEqual([]);
    opened.delete('one');
    await open(task, { page: 'three', isOpen }).start();
    expect(task.received.map((one) => one.slot)).toEqual(['s0', 's1']);
  });
});
