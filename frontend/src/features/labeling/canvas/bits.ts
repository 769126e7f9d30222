import type { Point, Rect } from './model';
import { type Rle, rleOfRuns, runsOf } from './rle';

const ALL = -1 >>> 0;
const PAGE_SHIFT = 12;
/** 16 KiB: ten columns of a picture that is 12,500 pixels high. */
const PAGE_WORDS = 1 << PAGE_SHIFT;

/**
 * A mask that is being painted: one bit a pixel, column by column, as COCO's runs go. Memory is taken for the columns that
 * have ones, so a stroke on 250 megapixels takes a few MB, and a mask of the whole of it 31.
 */
export class BitMask {
  readonly width: number;
  readonly height: number;
  private readonly pages: (Uint32Array | undefined)[];
  private readonly wordCount: number;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.wordCount = Math.ceil((width * height) / 32);
    this.pages = new Array(Math.ceil(this.wordCount / PAGE_WORDS)).fill(undefined);
  }

  static of(rle: Rle): BitMask {
    const mask = new BitMask(rle.size[1], rle.size[0]);
    for (const [from, to] of runsOf(rle)) mask.fill(from, to, true);
    return mask;
  }

  get(x: number, y: number): boolean {
    const pixel = x * this.height + y;
    const word = pixel >>> 5;
    const bits = this.pages[word >>> PAGE_SHIFT]?.[word & (PAGE_WORDS - 1)] ?? 0;
    return ((bits >>> (pixel & 31)) & 1) === 1;
  }

  private fill(from: number, to: number, value: boolean): void {
    if (from >= to) return;
    const first = from >>> 5;
    const last = (to - 1) >>> 5;
    const head = (ALL << (from & 31)) >>> 0;
    const tail = ALL >>> (31 - ((to - 1) & 31));
    if (first === last) {
      this.put(first, head & tail, value);
      return;
    }
    this.put(first, head, value);
    this.fillWords(first + 1, last, value);
    this.put(last, tail, value);
  }

  private put(word: number, bits: number, value: boolean): void {
    const page = this.page(word >>> PAGE_SHIFT, value);
    const at = word & (PAGE_WORDS - 1);
    if (page) page[at] = value ? (page[at] as number) | bits : (page[at] as number) & ~bits;
  }

  private fillWords(first: number, last: number, value: boolean): void {
    for (let word = first; word < last; ) {
      const number = word >>> PAGE_SHIFT;
      const end = Math.min(last, (number + 1) << PAGE_SHIFT);
      const start = number << PAGE_SHIFT;
      this.page(number, value)?.fill(value ? ALL : 0, word - start, end - start);
      word = end;
    }
  }

  /** The words of a page; nothing is taken away from one that has no ones. */
  private page(number: number, makes: boolean): Uint32Array | undefined {
    if (makes) this.pages[number] ??= new Uint32Array(PAGE_WORDS);
    return this.pages[number];
  }

  /** Rows [top, bottom) of a column. */
  fillColumn(x: number, top: number, bottom: number, value: boolean): void {
    if (x < 0 || x >= this.width) return;
    const start = x * this.height;
    this.fill(start + Math.max(0, top), start + Math.min(this.height, bottom), value);
  }

  /** Every pixel whose centre a round brush covers on its way, and those right below its ends. Returns what may have changed. */
  stroke(from: Point, to: Point, radius: number, value: boolean): Rect {
    const left = Math.max(0, Math.floor(Math.min(from[0], to[0]) - radius));
    const right = Math.min(this.width, Math.ceil(Math.max(from[0], to[0]) + radius));
    for (let x = left; x < right; x++) {
      const range = capsuleAt(from, to, radius, x + 0.5);
      if (range) this.fillColumn(x, Math.ceil(range[0] - 0.5), Math.floor(range[1] - 0.5) + 1, value);
    }
    for (const [x, y] of [from, to]) {
      const row = Math.floor(y);
      if (row >= 0 && row < this.height) this.fillColumn(Math.floor(x), row, row + 1, value);
    }
    const top = Math.max(0, Math.floor(Math.min(from[1], to[1]) - radius));
    const bottom = Math.min(this.height, Math.ceil(Math.max(from[1], to[1]) + radius));
    return [left, top, Math.max(0, right - left), Math.max(0, bottom - top)];
  }

  private *runs(): Generator<readonly [number, number]> {
    const count = this.width * this.height;
    for (let from = this.next(0, count, true); from < count; ) {
      const to = this.next(from, count, false);
      yield [from, to];
      from = this.next(to, count, true);
    }
  }

  /** The first pixel at or after `start` that has this value. */
  private next(start: number, count: number, value: boolean): number {
    if (start >= count) return count;
    let mask = (ALL << (start & 31)) >>> 0;
    for (let word = start >>> 5; word < this.wordCount; word += 1, mask = ALL) {
      const page = this.pages[word >>> PAGE_SHIFT];
      if (!page) {
        if (!value) return Math.min(count, Math.max(start, word * 32));
        // To the last word of the page.
        word |= PAGE_WORDS - 1;
        continue;
      }
      const bits = page[word & (PAGE_WORDS - 1)] as number;
      const hits = ((value ? bits : ~bits) & mask) >>> 0;
      if (hits !== 0) return Math.min(count, word * 32 + 31 - Math.clz32(hits & -hits));
    }
    return count;
  }

  isEmpty(): boolean {
    return this.pages.every((page) => page?.every((word) => word === 0) ?? true);
  }

  /** Bytes that the ones take. */
  get bytes(): number {
    return this.pages.reduce((sum, page) => sum + (page?.byteLength ?? 0), 0);
  }

  toRle(): Rle {
    return rleOfRuns(this.runs(), this.height, this.width);
  }
}

/** Where a vertical line runs through a stroke: a stroke is convex, so it is one range. */
function capsuleAt(from: Point, to: Point, radius: number, x: number): readonly [number, number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const take = (y: number) => {
    if (y < low) low = y;
    if (y > high) high = y;
  };
  for (const [cx, cy] of [from, to]) {
    const square = radius * radius - (x - cx) * (x - cx);
    if (square < 0) continue;
    const half = Math.sqrt(square);
    take(cy - half);
    take(cy + half);
  }
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length > 0) {
    const nx = (-(to[1] - from[1]) / length) * radius;
    const ny = ((to[0] - from[0]) / length) * radius;
    for (const side of [-1, 1]) {
      const [x1, x2] = [from[0] + side * nx, to[0] + side * nx];
      if (x1 === x2 || x < Math.min(x1, x2) || x > Math.max(x1, x2)) continue;
      const share = (x - x1) / (x2 - x1);
      take(from[1] + side * ny + share * (to[1] - from[1]));
    }
  }
  return low <= high ? [low, high] : null;
}
