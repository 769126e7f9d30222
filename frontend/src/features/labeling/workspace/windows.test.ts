import { expect, test, vi } from 'vitest';
import { openWindows } from './windows';

const listener = () => ({ taking: vi.fn(), taken: vi.fn() });

test('the other windows of the same person and task hear it at once, the speaker and others do not', async () => {
  const [mine, other, colleague, elsewhere] = [listener(), listener(), listener(), listener()];
  const here = openWindows('ann', 't1', mine);
  const windows = [
    here,
    openWindows('ann', 't1', other),
    openWindows('bob', 't1', colleague),
    openWindows('ann', 't2', elsewhere),
  ];
  await here.taking();
  here.taken();
  await vi.waitFor(() => expect(other.taken).toHaveBeenCalledTimes(1));
  expect(other.taking).toHaveBeenCalledTimes(1);
  for (const { taking, taken } of [mine, colleague, elsewhere]) {
    expect(taking).not.toHaveBeenCalled();
    expect(taken).not.toHaveBeenCalled();
  }
  for (const { close } of windows) close();
});

test('a window that was closed says nothing more', async () => {
  const here = openWindows('ann', 't1', listener());
  here.close();
  expect(() => here.taken()).not.toThrow();
  await here.taking();
});
