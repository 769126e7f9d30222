import type { LeasedSlot } from '@/api/contract/labeling';

/** Decodes images of a grid before they are shown, so that Enter shows the next batch at once. */
export function preloadTiles(slots: LeasedSlot[]): void {
  for (const slot of slots) {
    const image = new Image();
    image.src = slot.thumb_url ?? slot.media_url;
    void image.decode?.().catch(() => {}); // A broken image is shown as one by its tile.
  }
}
