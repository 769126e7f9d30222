import { act, renderHook } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { useArrived } from './useArrived';

afterEach(() => {
  vi.useRealTimers();
});

test('what was there once stays there', () => {
  const { result, rerender } = renderHook(({ isThere }) => useArrived(isThere), { initialProps: { isThere: false } });
  expect(result.current).toBe(false);
  rerender({ isThere: true });
  expect(result.current).toBe(true);
  rerender({ isThere: false });
  expect(result.current).toBe(true);
});

test('what does not come in time is waited for no longer', () => {
  vi.useFakeTimers();
  const { result } = renderHook(() => useArrived(false, 3000));
  act(() => void vi.advanceTimersByTime(2999));
  expect(result.current).toBe(false);
  act(() => void vi.advanceTimersByTime(1));
  expect(result.current).toBe(true);
});
