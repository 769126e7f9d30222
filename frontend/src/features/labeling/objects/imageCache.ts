/** A decoded picture, or the reason why there is none. */
export type Decoded = { state: 'loading' } | { state: 'ready'; bitmap: ImageBitmap } | { state: 'failed' };

const KEPT = 6;
const LOADING: Decoded = { state: 'loading' };

/** Decodes beside the page's own thread: from an element the browser would decode once more, and block. */
async function decoded(address: string): Promise<ImageBitmap> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The picture was answered with ${answer.status}.`);
  // The bitmap has the orientation that EXIF names applied.
  return createImageBitmap(await answer.blob(), { imageOrientation: 'from-image' }).catch(() => ofElement(address));
}

/** Elements read what bitmaps do not, such as SVG. */
async function ofElement(address: string): Promise<ImageBitmap> {
  const image = new Image();
  image.src = address;
  await image.decode();
  return createImageBitmap(image);
}

/** Pictures decoded before they are shown, so that Enter paints the next one at once. The oldest go. */
export class ImageCache {
  private readonly entries = new Map<string, Decoded>();
  private readonly listeners = new Set<() => void>();
  private readonly decode: (address: string) => Promise<ImageBitmap>;

  constructor(decode: (address: string) => Promise<ImageBitmap> = decoded) {
    this.decode = decode;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The picture as it is now. */
  peek(address: string): Decoded {
    return this.entries.get(address) ?? LOADING;
  }

  /** Fetches a picture unless it is here; asking again makes it the newest. */
  load(address: string): void {
    const known = this.entries.get(address);
    this.entries.delete(address);
    this.entries.set(address, known ?? LOADING);
    this.trim();
    if (known && known.state !== 'failed') return;
    void this.decode(address).then(
      (bitmap) => this.put(address, { state: 'ready', bitmap }),
      () => this.put(address, { state: 'failed' }),
    );
  }

  /** Fetches again what could not be fetched. */
  retry = (): void => {
    for (const [address, { state }] of [...this.entries]) if (state === 'failed') this.load(address);
  };

  private put(address: string, entry: Decoded): void {
    // It was dropped while it was on its way.
    if (!this.entries.has(address)) {
      if (entry.state === 'ready') entry.bitmap.close();
      return;
    }
    this.entries.set(address, entry);
    for (const listener of this.listeners) listener();
  }

  private trim(): void {
    for (const [address, entry] of this.entries) {
      if (this.entries.size <= KEPT) return;
      if (entry.state === 'ready') entry.bitmap.close();
      this.entries.delete(address);
    }
  }

  clear(): void {
    for (const entry of this.entries.values()) if (entry.state === 'ready') entry.bitmap.close();
    this.entries.clear();
  }
}
