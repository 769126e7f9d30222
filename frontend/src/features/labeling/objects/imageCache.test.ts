import { expect, test, vi } from 'vitest';
import { ImageCache } from './imageCache';

test('pictures that the network took away are fetched again, and no others', async () => {
  const bitmap = { close: () => undefined } as ImageBitmap;
  const offline = new Set(['b']);
  const decode = vi.fn(async (address: string) => {
    if (offline.has(address)) throw new Error('offline');
    return bitmap;
  });
  const images = new ImageCache(decode);
  images.load('a');
  images.load('b');
  await vi.waitFor(() => expect(images.peek('b').state).toBe('failed'));
  offline.clear();
  images.retry();
  await vi.waitFor(() => expect(images.peek('b')).toEqual({ state: 'ready', bitmap }));
  expect(decode.mock.calls).toEqual([['a'], ['b'], ['b']]);
});
