import type { Point, Rect } from './model';
import { type Rle, rleOfRuns, runsOf } from './rle';

const ALL = -1 >>> 0;

/** A mask that is being painted: one bit a pixel, column by column, as COCO's runs go. 24 megapixels are 3 MB. */
export class BitMask {
  readonly width: number;
  readonly height: number;
  private readonly words: Uint32Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.words = new Uint32Array(Math.ceil((width * height) / 32));
  }

  static of(rle: Rle): BitMask {
    const mask = new BitMask(rle.size[1], rle.size[0]);
    for (const [from, to] of runsOf(rle)) mask.fill(from, to, true);
    return mask;
  }

  get(x: number, y: number): boolean {
    const pixel = x * this.height + y;
    return (((this.words[pixel >>> 5] as number) >>> (pixel & 31)) & 1) === 1;
  }

  private fill(from: number, to: number, value: boolean): void {
    if (from >= to) return;
    const { words } = this;
    const first = from >>> 5;
    const last = (to - 1) >>> 5;
    const head = (ALL << (from & 31)) >>> 0;
    const tail = ALL >>> (31 - ((to - 1) & 31));
    const put = (word: number, bits: number) => {
      words[word] = value ? (words[word] as number) | bits : (words[word] as number) & ~bits;
    };
    if (first === last) {
      put(first, head & tail);
      return;
    }
    put(first, head);
    words.fill(value ? ALL : 0, first + 1, last);
    put(last, tail);
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
    const { words } = this;
    let word = start >>> 5;
    if (start >= count) return count;
    const bitsOf = (index: number) => (value ? (words[index] as number) : ~(words[index] as number) >>> 0);
    let bits = (bitsOf(word) & (ALL << (start & 31))) >>> 0;
    while (bits === 0) {
      word += 1;
      if (word >= words.length) return count;
      bits = bitsOf(word);
    }
    return Math.min(count, word * 32 + 31 - Math.clz32(bits & -bits));
  }

  isEmpty(): boolean {
    return this.words.every((word) => word === 0);
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
