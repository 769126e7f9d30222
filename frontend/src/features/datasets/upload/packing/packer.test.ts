import { afterEach, expect, test, vi } from 'vitest';
import { Packer } from './packer';

/** A browser's worker whose script cannot be loaded the first time. */
class FlakyWorker {
  static made = 0;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  private readonly isBroken = FlakyWorker.made++ === 0;

  postMessage({ id }: { id: number }): void {
    queueMicrotask(() => {
      if (this.isBroken) this.onerror?.(new ErrorEvent('error', { message: 'no script' }));
      else this.onmessage?.(new MessageEvent('message', { data: { id, done: 'packed' } }));
    });
  }

  terminate(): void {}
}

afterEach(() => vi.unstubAllGlobals());

test('a worker that did not start fails what waits, and the next question gets another', async () => {
  vi.stubGlobal('Worker', FlakyWorker);
  const packer = new Packer();
  const member = { path: 'a.txt', blob: new Blob(['a']) };
  await expect(Promise.all([packer.digest(member), packer.pack([member])])).rejects.toThrow('no script');
  await expect(packer.digest(member)).resolves.toBe('packed');
  packer.close();
  expect(FlakyWorker.made).toBe(2);
});
