import { useEffect, useSyncExternalStore } from 'react';
import type { Decoded, ImageCache } from './imageCache';

/** The decoded picture of the screen; those that come next are fetched after it. */
export function usePicture(images: ImageCache, address: string, upcoming: readonly string[]): Decoded {
  const picture = useSyncExternalStore(images.subscribe, () => images.peek(address));
  const next = upcoming.join('\n');
  useEffect(() => {
    for (const one of next.split('\n')) if (one) images.load(one);
    // Last, so that it is the newest: the oldest ones go.
    images.load(address);
  }, [images, address, next]);
  return picture;
}
