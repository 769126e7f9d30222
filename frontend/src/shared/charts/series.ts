const BLOCK = 256;
const SMALL_BLOCK = 16;

/** The smallest and the largest y of each so many points. */
class Extremes {
  readonly size: number;
  min: Float64Array;
  max: Float64Array;

  constructor(size: number, capacity: number) {
    this.size = size;
    this.min = new Float64Array(Math.ceil(capacity / size));
    this.max = new Float64Array(Math.ceil(capacity / size));
  }

  push(i: number, y: number): void {
    const block = Math.floor(i / this.size);
    const starts = i % this.size === 0;
    this.min[block] = starts ? y : Math.min(this.min[block] as number, y);
    this.max[block] = starts ? y : Math.max(this.max[block] as number, y);
  }

  /** Forgets the points from `length` on. */
  truncate(length: number, ys: Float64Array): void {
    for (let i = length - (length % this.size); i < length; i++) this.push(i, ys[i] as number);
  }

  grow(capacity: number): void {
    this.min = copied(this.min, Math.ceil(capacity / this.size));
    this.max = copied(this.max, Math.ceil(capacity / this.size));
  }
}

function copied(from: Float64Array, length: number): Float64Array {
  const to = new Float64Array(length);
  to.set(from);
  return to;
}

/** The extremes of a curve in `count` buckets; bucket `n` has the points of `[(first + n) * width, (first + n + 1) * width)`. */
interface Buckets {
  width: number;
  first: number;
  count: number;
  min: Float64Array;
  max: Float64Array;
  /** How many of the points are counted. */
  points: number;
}

/** A point whose y is NaN or infinite. */
export interface Undrawn {
  x: number;
  y: number;
}

/**
 * Points of one curve with an index of extremes in two sizes: a redraw costs O(pixels), not O(points). Those that have no
 * place on the y axis are kept apart: the curve has a gap there, and a mark. No React.
 */
export class Series {
  readonly undrawn: Undrawn[] = [];
  private xs: Float64Array;
  private ys: Float64Array;
  private readonly blocks: Extremes;
  private readonly small: Extremes;
  private kept: Buckets | null = null;
  length = 0;

  constructor(capacity = 1024) {
    this.xs = new Float64Array(capacity);
    this.ys = new Float64Array(capacity);
    this.blocks = new Extremes(BLOCK, capacity);
    this.small = new Extremes(SMALL_BLOCK, capacity);
  }

  static from(xs: ArrayLike<number>, ys: ArrayLike<number | null>): Series {
    const series = new Series(Math.max(1, xs.length));
    for (let i = 0; i < xs.length; i++) {
      const y = ys[i];
      if (y != null) series.push(xs[i] as number, y);
    }
    return series;
  }

  /** Appends a point. `x` must not go back; a repeated or earlier x (a restarted run) replaces what came after it. */
  push(x: number, y: number): void {
    if (this.length > 0 && x <= (this.xs[this.length - 1] as number)) this.truncate(this.indexOf(x));
    while ((this.undrawn.at(-1)?.x ?? Number.NEGATIVE_INFINITY) >= x) this.undrawn.pop();
    if (!Number.isFinite(y)) {
      this.undrawn.push({ x, y });
      return;
    }
    if (this.length === this.xs.length) this.grow();
    const i = this.length++;
    this.xs[i] = x;
    this.ys[i] = y;
    this.blocks.push(i, y);
    this.small.push(i, y);
  }

  /** The last y, also where it is NaN or infinite; null without points. */
  get lastY(): number | null {
    const undrawn = this.undrawn.at(-1);
    const x = this.length > 0 ? this.x(this.length - 1) : Number.NEGATIVE_INFINITY;
    if (undrawn && undrawn.x > x) return undrawn.y;
    return this.length > 0 ? this.y(this.length - 1) : null;
  }

  /** The y of the point at exactly `x`, also where it is NaN or infinite. */
  at(x: number): number | undefined {
    const i = this.indexOf(x);
    if (i < this.length && this.x(i) === x) return this.y(i);
    return this.undrawn.find((one) => one.x === x)?.y;
  }

  /** Stretches of x between two drawn points with undrawn ones between them. */
  gaps(): [from: number, to: number][] {
    const gaps: [number, number][] = [];
    for (const { x } of this.undrawn) {
      const after = this.indexOf(x);
      if (after === 0 || after === this.length) continue;
      if (gaps.at(-1)?.[1] !== this.x(after)) gaps.push([this.x(after - 1), this.x(after)]);
    }
    return gaps;
  }

  x(i: number): number {
    return this.xs[i] as number;
  }

  y(i: number): number {
    return this.ys[i] as number;
  }

  /** Index of the first point with x >= `value`. */
  indexOf(value: number): number {
    return this.indexWithin(value, 0, this.length);
  }

  /** The same for one that is not before `from` and probably near `guess`: what follows another is found in a few steps. */
  indexNear(value: number, from: number, guess: number): number {
    if (from >= this.length) return from;
    let low = from;
    let high = this.length;
    let at = Math.max(from, Math.min(guess, high - 1));
    const forward = (this.xs[at] as number) < value;
    for (let reach = 1; at >= low && at < high; reach *= 2) {
      if ((this.xs[at] as number) < value !== forward) break;
      if (forward) low = at + 1;
      else high = at;
      at += forward ? reach : -reach;
    }
    if (forward && at < high) high = at;
    if (!forward && at >= low) low = at + 1;
    return this.indexWithin(value, low, high);
  }

  private indexWithin(value: number, from: number, to: number): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.xs[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Smallest and largest y of points `[from, to)`; `[Infinity, -Infinity]` if there are none. */
  range(from: number, to: number): [min: number, max: number] {
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    let i = from;
    while (i < to) {
      const block = i % BLOCK === 0 && i + BLOCK <= to ? this.blocks : this.small;
      if (i % block.size === 0 && i + block.size <= to) {
        min = Math.min(min, block.min[i / block.size] as number);
        max = Math.max(max, block.max[i / block.size] as number);
        i += block.size;
      } else {
        const y = this.ys[i] as number;
        if (y < min) min = y;
        if (y > max) max = y;
        i += 1;
      }
    }
    return [min, max];
  }

  /** Kept until other buckets are asked for: while a curve grows, only its last ones are looked at again. */
  buckets(width: number, first: number, count: number): Buckets {
    const same = this.kept?.width === width && this.kept.first === first;
    const none = { width, first, count: 0, points: 0, min: new Float64Array(count), max: new Float64Array(count) };
    const kept = (same && this.kept) || none;
    if (kept.min.length < count) {
      kept.min = copied(kept.min, count * 2);
      kept.max = copied(kept.max, count * 2);
    }
    // One bucket more, for what rounding does at its edge.
    const grown = kept.points > 0 ? Math.floor(this.x(kept.points - 1) / width) - 1 - first : 0;
    const from = Math.max(0, Math.min(grown, kept.count));
    let start = this.indexOf((first + from) * width);
    let size = 0;
    for (let bucket = from; bucket < count; bucket++) {
      const end = this.indexNear((first + bucket + 1) * width, start, start + size);
      [kept.min[bucket], kept.max[bucket]] = this.range(start, end);
      size = end - start;
      start = end;
    }
    kept.count = count;
    kept.points = this.length;
    this.kept = kept;
    return kept;
  }

  private truncate(length: number): void {
    this.length = length;
    if (this.kept) this.kept.points = Math.min(this.kept.points, length);
    this.blocks.truncate(length, this.ys);
    this.small.truncate(length, this.ys);
  }

  private grow(): void {
    const capacity = this.xs.length * 2;
    this.xs = copied(this.xs, capacity);
    this.ys = copied(this.ys, capacity);
    this.blocks.grow(capacity);
    this.small.grow(capacity);
  }
}

/** `[x, y of series 0, y of series 1, …]`, as uPlot takes it; null: no point there. */
export type Aligned = [number[], ...(number | null)[][]];

export function extent(series: readonly Series[]): [from: number, to: number] | null {
  const ends = series.flatMap((one) => [
    ...(one.length > 0 ? [one.x(0), one.x(one.length - 1)] : []),
    ...(one.undrawn.length > 0 ? [(one.undrawn[0] as Undrawn).x, (one.undrawn.at(-1) as Undrawn).x] : []),
  ]);
  return ends.length === 0 ? null : [Math.min(...ends), Math.max(...ends)];
}

/** The points of `[from, to]`, at most two per pixel and series, with one neighbour on either side. */
export function align(series: readonly Series[], from: number, to: number, pixels: number): Aligned {
  const spans = series.map((one): [number, number] => [
    Math.max(0, one.indexOf(from) - 1),
    Math.min(one.length, one.indexOf(to + Number.EPSILON * Math.abs(to)) + 1),
  ]);
  const total = spans.reduce((sum, [start, end]) => sum + end - start, 0);
  if (total > pixels * 2) return alignInBuckets(series, from, to, pixels);
  // Undrawn points have a place for the cursor.
  const undrawn = series.flatMap((one) => one.undrawn.filter(({ x }) => x >= from && x <= to).map(({ x }) => x));
  return alignExactly(series, spans, undrawn);
}

function alignExactly(series: readonly Series[], spans: [number, number][], undrawn: number[]): Aligned {
  const set = new Set<number>(undrawn);
  series.forEach((one, k) => {
    const [start, end] = spans[k] as [number, number];
    for (let i = start; i < end; i++) set.add(one.x(i));
  });
  const xs = [...set].sort((a, b) => a - b);
  const place = new Map(xs.map((x, index) => [x, index]));
  const columns = series.map((one, k) => {
    const column: (number | null)[] = new Array(xs.length).fill(null);
    const [start, end] = spans[k] as [number, number];
    for (let i = start; i < end; i++) column[place.get(one.x(i)) as number] = one.y(i);
    return column;
  });
  return [xs, ...columns];
}

const ofBuckets = new WeakSet<object>();

/** Whether these x are those of buckets: two for each, the smallest y at the first and the largest at the second. */
export const areBuckets = (xs: object): boolean => ofBuckets.has(xs);

/** Widths of buckets grow by a twelfth: while points come, the buckets before them stay the same for long. */
const WIDTHS_PER_DOUBLING = 8;

function bucketWidth(from: number, to: number, pixels: number): number {
  // The first and the last bucket may be seen in part.
  const least = (to - from) / Math.max(1, pixels - 2) || 1;
  return 2 ** (Math.ceil(Math.log2(least) * WIDTHS_PER_DOUBLING) / WIDTHS_PER_DOUBLING);
}

function alignInBuckets(series: readonly Series[], from: number, to: number, pixels: number): Aligned {
  const width = bucketWidth(from, to, Math.floor(pixels));
  const first = Math.floor(from / width);
  const count = Math.floor(to / width) - first + 1;
  const xs: number[] = new Array(count * 2);
  // Points beside the visible range are drawn, but count for no axis.
  for (let i = 0; i < xs.length; i++) xs[i] = Math.min(to, Math.max(from, (first + i / 2) * width));
  ofBuckets.add(xs);
  const columns = series.map((one) => {
    const { min, max } = one.buckets(width, first, count);
    const column: (number | null)[] = new Array(count * 2).fill(null);
    for (let bucket = 0; bucket < count; bucket++) {
      const [low, high] = [min[bucket] as number, max[bucket] as number];
      if (Number.isFinite(low)) column[bucket * 2] = low;
      if (Number.isFinite(high)) column[bucket * 2 + 1] = high;
    }
    return column;
  });
  return [xs, ...columns];
}
