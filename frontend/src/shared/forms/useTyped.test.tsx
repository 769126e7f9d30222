import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useTyped } from './useTyped';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function typing() {
  const told: string[] = [];
  const { result, rerender } = renderHook(({ value }) => useTyped(value, (next) => told.push(next)), {
    initialProps: { value: '' },
  });
  const type = (next: string) => act(() => result.current[1](next));
  const pause = () => act(() => void vi.advanceTimersByTime(300));
  return { told, type, pause, come: (value: string) => rerender({ value }), shown: () => result.current[0] };
}

test('what was told comes back late and takes nothing of what was typed since', () => {
  const { told, type, pause, come, shown } = typing();
  type('c');
  type('ca');
  expect(told).toEqual([]);
  pause();
  type('cat');
  come('ca');
  expect(shown()).toBe('cat');
  pause();
  expect(told).toEqual(['ca', 'cat']);
});

test('what changes elsewhere is shown, and what was about to be told is not told any more', () => {
  const { told, type, pause, come, shown } = typing();
  come('dog');
  expect(shown()).toBe('dog');
  type('dogs');
  come('');
  expect(shown()).toBe('');
  pause();
  expect(told).toEqual([]);
});
