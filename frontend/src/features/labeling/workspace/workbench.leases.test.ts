import { describe, expect, test, vi } from 'vitest';
import type { LeasedSlot } from '@/api/contract/labeling';
import { FakeTask, ids, open, slot, withFreshBrowser } from './fakeTask';

withFreshBrowser();

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
    // An image that was only fetched ahead went to somebody who had nothing: that is no loss.
    expect(told()).toEqual([[['s0'], 'lost']]);
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

  test('Enter pressed again while leases are asked for submits nothing twice and skips no batch', async () => {
    const { task, bench } = await withLost(6, []);
    await vi.advanceTimersByTimeAsync(600_000);
    const first = bench.submit({}, 5, 0);
    const second = bench.submit({}, 5, 0);
    await Promise.all([first, second]);
    expect(ids(bench)).toEqual(['s2', 's3']);
    await vi.advanceTimersByTimeAsync(8000);
    expect(task.received.map((one) => one.slot)).toEqual(['s0', 's1']);
    expect(bench.submitted).toBe(2);
  });

  test('when one answer came too late, the other leases are asked for', async () => {
    const { bench } = await withLost(8, ['s0', 's4']);
    await bench.submit({}, 5, 0);
    await vi.advanceTimersByTimeAsync(8000);
    await bench.submit({}, 5, 0);
    expect(ids(bench)).toEqual(['s5']);
  });

  test('what was submitted while the server was asked is not told as lost', async () => {
    const { task, bench, told } = await withLost(4, []);
    const answers: (() => void)[] = [];
    task.heartbeat = (one) =>
      new Promise((resolve) => {
        answers.push(() => resolve(one.id === 's0' || one.id === 's1' ? 'elsewhere' : 'held'));
      });
    await bench.submit({}, 5, 0);
    const beat = bench.heartbeat();
    bench.pageHidden();
    for (const answer of answers) answer();
    await beat;
    expect(told()).toEqual([]);
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

  test('whoever has nothing to show asks for more than what is open; what is fetched ahead does not', async () => {
    const { task, bench } = await withLost(2, []);
    expect(task.leases).toEqual([
      [2, false],
      [2, true],
    ]);
    await bench.submit({}, 5, 0);
    expect(task.leases.at(-1)).toEqual([2, false]);
  });

  test('what went to somebody else on its way to the screen leaves it quietly, and less is fetched ahead', async () => {
    const { task, bench, told } = await withLost(8, ['s3']);
    await bench.submit({}, 5, 0);
    await vi.advanceTimersByTimeAsync(1);
    expect(ids(bench)).toEqual(['s2']);
    expect(told()).toEqual([]);
    task.lost.add('s4').add('s5');
    await bench.heartbeat();
    await bench.submit({}, 5, 0);
    expect(task.leases.some(([n, ahead]) => ahead && n === 1)).toBe(true);
  });

  test('what another window of the same person shows stays there until one is told to go on here', async () => {
    const task = new FakeTask(0);
    task.otherPage = [slot(7)];
    const bench = open(task);
    await bench.start();
    expect(bench.state).toBe('empty');
    await bench.takeAll();
    expect(ids(bench)).toEqual(['s7']);
  });

  test('another window is told before its work is taken, and at once when work was taken up', async () => {
    const task = new FakeTask(0);
    task.otherPage = [slot(7)];
    const order: string[] = [];
    const { takeUp } = task;
    task.takeUp = (everything) => {
      order.push(everything ? 'take all' : 'take up');
      return takeUp(everything);
    };
    const onTaking = async () => void order.push('taking');
    const bench = open(task, { onTaking, onTaken: () => order.push('taken') });
    await bench.start();
    // Nothing was taken: nobody has to ask for their leases.
    expect(order).toEqual(['take up', 'take up']);
    await bench.takeAll();
    expect(order.slice(2)).toEqual(['taking', 'take all', 'taken']);
  });

  test('a page that leases or takes up work says so, one that fetches ahead does not', async () => {
    const onTaken = vi.fn();
    const task = new FakeTask(6);
    const bench = open(task, { onTaken });
    await bench.start();
    await vi.advanceTimersByTimeAsync(1);
    expect(task.leases.map(([, ahead]) => ahead)).toEqual([false, true]);
    expect(onTaken).toHaveBeenCalledTimes(1);
    task.leasedWork = [slot(9)];
    await open(task, { onTaken }).start();
    expect(onTaken).toHaveBeenCalledTimes(2);
  });
});

describe('skipping', () => {
  test('a skipped image leaves the batch, and comes back with another lease when it is taken back', async () => {
    const task = new FakeTask(2);
    const bench = open(task);
    await bench.start();
    const skipped = await bench.skip('s0', 'blurred');
    expect([task.skipped, ids(bench)]).toEqual([['s0'], ['s1']]);
    if (!skipped) throw new Error('nothing was skipped');
    await bench.unskip(skipped);
    expect(bench.current?.slots.map(({ id, lease_no }) => [id, lease_no])).toEqual([
      ['s1', 1],
      ['s0', 2],
    ]);
  });

  test('the last image of the last batch can be taken back, too', async () => {
    const task = new FakeTask(1);
    const bench = open(task);
    await bench.start();
    const skipped = await bench.skip('s0');
    expect(bench.state).toBe('empty');
    if (skipped) await bench.unskip(skipped);
    expect([bench.state, ids(bench)]).toEqual(['working', ['s0']]);
  });
});
