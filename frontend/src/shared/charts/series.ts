/** Points of one curve with a two-level min/max index: a redraw costs O(pixels), not O(points). No React. */
const BLOCK = 256;

export class Series {
  private xs: Float64Array;
  private ys: Float64Array;
  private blockMin: Float64Array;
  private blockMax: Float64Array;
  length = 0;

  constructor(capacity = 1024) {
    this.xs = new Float64Array(capacity);
    this.ys = new Float64Array(capacity);
    this.blockMin = new Float64Array(Math.ceil(capacity / BLOCK));
    this.blockMax = new Float64Array(Math.ceil(capacity / BLOCK));
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
    if (this.length === this.xs.length) this.grow();
    const i = this.length++;
    const block = Math.floor(i / BLOCK);
    this.xs[i] = x;
    this.ys[i] = y;
    const starts = i % BLOCK === 0;
    // NaN (a diverged loss) makes no extreme of its block.
    const low = Number.isNaN(y) ? Number.POSITIVE_INFINITY : y;
    const high = Number.isNaN(y) ? Number.NEGATIVE_INFINITY : y;
    this.blockMin[block] = starts ? low : Math.min(this.blockMin[block] as number, low);
    this.blockMax[block] = starts ? high : Math.max(this.blockMax[block] as number, high);
  }

  x(i: number): number {
    return this.xs[i] as number;
  }

  y(i: number): number {
    return this.ys[i] as number;
  }

  /** Index of the first point with x >= `value`. */
  indexOf(value: number): number {
    let low = 0;
    let high = this.length;
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
    const scanTo = (end: number) => {
      for (; i < end; i++) {
        const y = this.ys[i] as number;
        if (y < min) min = y;
        if (y > max) max = y;
      }
    };
    const firstBlock = Math.ceil(from / BLOCK);
    const lastBlock = Math.floor(to / BLOCK);
    if (lastBlock > firstBlock) {
      scanTo(firstBlock * BLOCK);
      for (let block = firstBlock; block < lastBlock; block++) {
        min = Math.min(min, this.blockMin[block] as number);
        max = Math.max(max, this.blockMax[block] as number);
      }
      i = lastBlock * BLOCK;
    }
    scanTo(to);
    return [min, max];
  }

  private truncate(length: number): void {
    this.length = length;
    const block = Math.floor(length / BLOCK);
    if (length % BLOCK === 0) return;
    const [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    this.blockMin[block] = min;
    this.blockMax[block] = max;
    for (let i = block * BLOCK; i < length; i++) {
      const y = this.ys[i] as number;
      if (y < (this.blockMin[block] as number)) this.blockMin[block] = y;
      if (y > (this.blockMax[block] as number)) this.blockMax[block] = y;
    }
  }

  private grow(): void {
    const capacity = this.xs.length * 2;
    const copy = (from: Float64Array, size: number) => {
      const to = new Float64Array(size);
      to.set(from);
      return to;
    };
    this.xs = copy(this.xs, capacity);
    this.ys = copy(this.ys, capacity);
    this.blockMin = copy(this.blockMin, Math.ceil(capacity / BLOCK));
    this.blockMax = copy(this.blockMax, Math.ceil(capacity / BLOCK));
  }
}

/** `[x, y of series 0, y of series 1, …]`, as uPlot takes it; null: no point there. */
export type Aligned = [number[], ...(number | null)[][]];

export function extent(series: readonly Series[]): [from: number, to: number] | null {
  const used = series.filter((one) => one.length > 0);
  if (used.length === 0) return null;
  return [Math.min(...used.map((one) => one.x(0))), Math.max(...used.map((one) => one.x(one.length - 1)))];
}

/** The points of `[from, to]`, at most two per pixel and series, with one neighbour on either side. */
export function align(series: readonly Series[], from: number, to: number, pixels: number): Aligned {
  const spans = series.map((one): [number, number] => [
    Math.max(0, one.indexOf(from) - 1),
    Math.min(one.length, one.indexOf(to + Number.EPSILON * Math.abs(to)) + 1),
  ]);
  const total = spans.reduce((sum, [start, end]) => sum + end - start, 0);
  return total <= pixels * 2 ? alignExactly(series, spans) : alignInBuckets(series, from, to, pixels);
}

function alignExactly(series: readonly Series[], spans: [number, number][]): Aligned {
  const set = new Set<number>();
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

function alignInBuckets(series: readonly Series[], from: number, to: number, pixels: number): Aligned {
  const buckets = Math.max(1, Math.floor(pixels));
  const step = (to - from) / buckets || 1;
  const xs = Array.from({ length: buckets * 2 }, (_, i) => from + (i / 2) * step);
  const columns = series.map((one) => {
    const column: (number | null)[] = new Array(buckets * 2).fill(null);
    let start = one.indexOf(from);
    for (let bucket = 0; bucket < buckets; bucket++) {
      const edge = from + (bucket + 1) * step;
      const end = bucket === buckets - 1 ? one.indexOf(to + step) : one.indexOf(edge);
      if (end > start) {
        const [min, max] = one.range(start, end);
        column[bucket * 2] = Number.isFinite(min) ? min : null;
        column[bucket * 2 + 1] = Number.isFinite(max) ? max : null;
      }
      start = end;
    }
    return column;
  });
  return [xs, ...columns];
}
