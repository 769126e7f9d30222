import { vi } from 'vitest';

/** Waits until `check` no longer throws. A busy machine renders slowly: tests are about what appears, not when. */
export const eventually = <Value>(check: () => Value | Promise<Value>): Promise<Value> =>
  vi.waitFor(check, { timeout: 8000 });
