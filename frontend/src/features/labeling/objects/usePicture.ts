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

/** The address of what the browser decodes whole: a tiled picture has its thumbnail below the tiles. */
export const wholePicture = (slot: { tiled: boolean; media_url: string; thumb_url: string }): string =>
  slot.tiled ? slot.thumb_url : slot.media_url;
