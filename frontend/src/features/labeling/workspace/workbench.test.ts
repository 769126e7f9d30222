import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import { ApiError } from '@/api/errors';
import { type KeyValue, memoryStore } from './kv';
import { saveStateOf } from './saveState';
import { Workbench, type WorkbenchApi, type WorkbenchOptions } from './workbench';

const slot = (n: number, extra: Partial<LeasedSlot> = {}): LeasedSlot => ({
  id: `s${n}`,
  item_id: `i${n}`,
  state: 'leased',
  lease_no: 1,
  expires_at: '',
  path: `${n}.png`,
  media_url: '',
  thumb_url: '',
  draft: null,
  draft_seq: null,
  label_id: null,
  returned_code: null,
  returned_comment: null,
  ...extra,
});

/** A task with `count` images: what a server with this API would do. */
class FakeTask implements WorkbenchApi {
  given = 0;
  received: Submission[] = [];
  drafts: [string, number, number | null][] = [];
  offline = false;
  /** Takes submissions, but its answers never arrive. */
  silent = false;
  lost = new Set<string>();
  returnedWork: LeasedSlot[] = [];
  leasedWork: LeasedSlot[] = [];
  released: string[] = [];
  readonly count: number;
  constructor(count: number) {
    this.count = count;
  }
  myWork = async () => ({ leased: this.leasedWork, returned: this.returnedWork });
  lease = async (n: number) => {
    const from = this.given;
    this.given = Math.min(this.count, from + n);
    return Array.from({ length: this.given - from }, (_, k) => slot(from + k));
  };
  submit = async (submissions: Submission[]): Promise<SubmitResult[]> => {
    if (this.offline) throw new TypeError('offline');
    this.received.push(...submissions);
    if (this.silent) return new Promise(() => {});
    return submissions.map((one) =>
      this.lost.has(one.slot) ? { slot: one.slot, ok: false, code: 'stale_lease' } : { slot: one.slot, ok: true },
    );
  };
  asked: string[] = [];
  elsewhere = new Set<string>();
  heartbeat = async (one: LeasedSlot) => {
    if (this.offline) throw new TypeError('offline');
    this.asked.push(one.id);
    if (this.elsewhere.has(one.id)) return 'elsewhere' as const;
    return this.lost.has(one.id) ? ('lost' as const) : ('held' as const);
  };
  release = async (one: LeasedSlot) => void this.released.push(one.id);
  skip = async () => {};
  saveDraft = async (one: LeasedSlot, sequence: number, labelId: number | null) => {
    if (this.offline) throw new TypeError('offline');
    this.drafts.push([one.id, sequence, labelId]);
  };
}

let store: KeyValue;
let keys = 0;
const open = (task: FakeTask, extra: Partial<WorkbenchOptions> = {}) =>
  new Workbench({
    api: task,
    store,
    task: 't',
    batchSize: 2,
    newKey: () => `k${keys++}`,
    onChange: () => {},
    ...extra,
  });
const ids = (bench: Workbench) => bench.current?.slots.map((one) => one.id);

beforeEach(() => {
  vi.useFakeTimers();
  store = memoryStore();
  keys = 0;
});
afterEach(() => vi.useRealTimers());

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
    await bench.submit({ s1: 8 }, 5, 3000);
    expect(task.received).toMatchObject([
      { slot: 's0', label_id: 5, active_ms: 1500 },
      { slot: 's1', label_id: 8 },
    ]);
  });

  test('a batch taken back is not sent, and keeps its classes', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await bench.submit({ s1: 8 }, 5, 0);
    expect(await bench.back({ s2: 3 }, 4)).toBe(true);
    expect(bench.current).toMatchObject({ labels: { s1: 8 }, preset: 5 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(task.received).toEqual([]);
    await bench.submit({ s1: 9 }, 5, 0);
    expect(bench.current).toMatchObject({ labels: { s2: 3 }, preset: 4 });
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
    task.lost.add('s1');
    const bench = open(task);
    await bench.start();
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

  test('a page that goes away sends the held batch before it is gone', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await bench.submit({ s0: 3 }, 5, 0);
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
    store = { ...memoryStore(), set: () => Promise.reject(new Error('disk full')) };
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await bench.submit({}, 5, 0);
    expect(task.received).toHaveLength(2);
  });

  test('only what the server has answered for is called saved', async () => {
    const task = new FakeTask(4);
    store = { ...memoryStore(), durable: true };
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
    await bench.submit({ s0: 1, s1: 2 }, null, 0);
    expect(bench.state).toBe('empty');
    expect(task.received).toHaveLength(2);
    expect(saveStateOf(bench)).toBe('saved');
  });

  test('offline it says how many images are kept here, drafts too, and stops when they are sent', async () => {
    const task = new FakeTask(6);
    store = { ...memoryStore(), durable: true };
    const bench = open(task);
    await bench.start();
    task.offline = true;
    bench.draft('s0', 1);
    await vi.advanceTimersByTimeAsync(3000);
    expect(saveStateOf(bench)).toBe('local');
    expect(bench.unsent.size).toBe(1);
    await bench.submit({ s0: 1 }, 5, 0);
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
    await bench.submit({ s0: 1 }, 5, 0);
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
    const there = task.myWork;
    task.myWork = () => Promise.reject(new TypeError('offline'));
    const bench = open(task);
    await bench.start();
    expect(bench.state).toBe('failed');
    task.myWork = there;
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
    await first.submit({ s0: 3 }, 5, 0);
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
    expect(second.current?.labels).toEqual({ s1: 7, s2: 2 });
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
    expect(second.current?.labels).toEqual({ s1: 3 });
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
    // What the page says stands still while it asks.
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

  test('leaving gives back only what was not looked at', async () => {
    const task = new FakeTask(4);
    const bench = open(task);
    await bench.start();
    await vi.advanceTimersByTimeAsync(1);
    await bench.leave();
    expect(task.released).toEqual(['s2', 's3']);
  });
});

describe('leases that are gone', () => {
  const withLost = async (count: number, lost: string[]) => {
    const task = new FakeTask(count);
    const onLost = vi.fn();
    const bench = open(task, { onLost });
    await bench.start();
    await vi.advanceTimersByTimeAsync(1);
    for (const id of lost) task.lost.add(id);
    const told = () => onLost.mock.calls.map(([slots, lease]) => [slots.map((one: LeasedSlot) => one.id), lease]);
    return { task, bench, told };
  };

  test('each is told once and asked for no more', async () => {
    const { task, bench, told } = await withLost(4, ['s0', 's2']);
    await bench.heartbeat();
    expect(told()).toEqual([[['s0', 's2'], 'lost']]);
    task.asked = [];
    await bench.heartbeat();
    expect(task.asked).toEqual(['s1', 's3']);
    expect(told()).toHaveLength(1);
  });

  test('a server that is away took nothing', async () => {
    const { task, bench, told } = await withLost(4, []);
    task.offline = true;
    await bench.heartbeat();
    expect(told()).toEqual([]);
  });

  test('what was not looked at is never shown, what is on the screen stays', async () => {
    const { bench } = await withLost(6, ['s0', 's2']);
    await bench.heartbeat();
    expect(ids(bench)).toEqual(['s0', 's1']);
    await bench.submit({}, 5, 0);
    expect(ids(bench)).toEqual(['s3']);
  });

  test('a batch that came long ago is asked for before it is shown', async () => {
    const { bench } = await withLost(6, ['s2', 's3']);
    await vi.advanceTimersByTimeAsync(600_000);
    await bench.submit({}, 5, 0);
    expect(ids(bench)).toEqual(['s4', 's5']);
  });

  test('when one answer came too late, the other leases are asked for', async () => {
    const { bench } = await withLost(8, ['s0', 's4']);
    await bench.submit({}, 5, 0);
    await vi.advanceTimersByTimeAsync(8000);
    await bench.submit({}, 5, 0);
    expect(ids(bench)).toEqual(['s5']);
  });

  test('another window of the same person is named', async () => {
    const { task, bench, told } = await withLost(2, []);
    task.elsewhere.add('s1');
    await bench.heartbeat();
    expect(told()).toEqual([[['s1'], 'elsewhere']]);
  });

  test('an image that is handed out to us again is submitted under its new number', async () => {
    const { task, bench } = await withLost(4, []);
    task.lease = async () => [slot(2, { lease_no: 2 })];
    await bench.submit({}, 5, 0);
    await vi.advanceTimersByTimeAsync(1);
    await bench.submit({}, 5, 0);
    await vi.advanceTimersByTimeAsync(8000);
    expect(task.received.filter((one) => one.slot === 's2').map((one) => one.lease_no)).toEqual([2]);
  });
});
