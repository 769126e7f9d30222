import type { MaskShape, Point, Rect } from './model';

/** A mask of the whole picture: COCO's run lengths, column by column, zeros first. */
export type Rle = MaskShape['rle'];

const BITS = 5;
const LOW = (1 << BITS) - 1;
const SIGN = 1 << (BITS - 1);
const MORE = 1 << BITS;
const FIRST_CHARACTER = 48;

/** COCO's compressed text, to the byte; from the third on, counts are differences to the one before the last. */
export function textOfCounts(counts: ArrayLike<number>): string {
  const characters: string[] = [];
  for (let index = 0; index < counts.length; index++) {
    let rest = (counts[index] as number) - (index > 2 ? (counts[index - 2] as number) : 0);
    let more = true;
    while (more) {
      let digit = rest & LOW;
      rest >>= BITS;
      more = digit & SIGN ? rest !== -1 : rest !== 0;
      if (more) digit |= MORE;
      characters.push(String.fromCharCode(digit + FIRST_CHARACTER));
    }
  }
  return characters.join('');
}

export class RleError extends Error {}

export function countsOfText(text: string): number[] {
  const counts: number[] = [];
  let position = 0;
  while (position < text.length) {
    let value = 0;
    let shift = 0;
    let digit = MORE;
    while (digit & MORE) {
      if (position >= text.length) throw new RleError('the run lengths end too early');
      digit = text.charCodeAt(position) - FIRST_CHARACTER;
      value |= (digit & LOW) << shift;
      position += 1;
      shift += BITS;
      if (!(digit & MORE) && digit & SIGN && shift < 32) value |= -1 << shift;
    }
    counts.push(counts.length > 2 ? value + (counts[counts.length - 2] as number) : value);
  }
  return counts;
}

/** Where each run ends, counted from the start: odd runs are ones. */
const ends = new WeakMap<Rle, Uint32Array>();

export function endsOf(rle: Rle): Uint32Array {
  const known = ends.get(rle);
  if (known) return known;
  const counts = countsOfText(rle.counts);
  const sums = new Uint32Array(counts.length);
  let sum = 0;
  counts.forEach((count, index) => {
    sum += count;
    sums[index] = sum;
  });
  const [height, width] = rle.size;
  if (sum !== height * width) throw new RleError(`the runs cover ${sum} pixels of ${height * width}`);
  ends.set(rle, sums);
  return sums;
}

/** Takes runs of ones [start, end) in rising order, which may touch each other. */
export function rleOfRuns(runs: Iterable<readonly [number, number]>, height: number, width: number): Rle {
  const sums: number[] = [];
  let end = 0;
  for (const [from, to] of runs) {
    if (from === end && sums.length > 0) sums[sums.length - 1] = to;
    else sums.push(from, to);
    end = to;
  }
  if (end < height * width) sums.push(height * width);
  const rle: Rle = { size: [height, width], counts: textOfCounts(sums.map((sum, i) => sum - (sums[i - 1] ?? 0))) };
  ends.set(rle, Uint32Array.from(sums));
  return rle;
}

export function* runsOf(rle: Rle): Generator<readonly [number, number]> {
  const sums = endsOf(rle);
  for (let index = 1; index < sums.length; index += 2) yield [sums[index - 1] as number, sums[index] as number];
}

/** The index of the run that a pixel lies in. */
export function runAt(sums: Uint32Array, pixel: number): number {
  let low = 0;
  let high = sums.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] as number) <= pixel) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function maskArea(rle: Rle): number {
  let area = 0;
  for (const [from, to] of runsOf(rle)) area += to - from;
  return area;
}

const bounds = new WeakMap<Rle, Rect>();

export function maskBounds(rle: Rle): Rect {
  const known = bounds.get(rle);
  if (known) return known;
  const height = rle.size[0];
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, height, 0, 0];
  for (const [from, to] of runsOf(rle)) {
    if (from === to) continue;
    const first = Math.floor(from / height);
    const last = Math.floor((to - 1) / height);
    left = Math.min(left, first);
    right = Math.max(right, last + 1);
    top = first === last ? Math.min(top, from % height) : 0;
    bottom = first === last ? Math.max(bottom, ((to - 1) % height) + 1) : height;
  }
  const rect: Rect = right === 0 ? [0, 0, 0, 0] : [left, top, right - left, bottom - top];
  bounds.set(rle, rect);
  return rect;
}

export function maskContains(rle: Rle, [x, y]: Point): boolean {
  const [height, width] = rle.size;
  const [column, row] = [Math.floor(x), Math.floor(y)];
  if (column < 0 || row < 0 || column >= width || row >= height) return false;
  return runAt(endsOf(rle), column * height + row) % 2 === 1;
}

/** The mask moved by whole pixels; what leaves the picture is gone. */
export function movedMask(rle: Rle, dx: number, dy: number): Rle {
  const [height, width] = rle.size;
  function* runs(): Generator<readonly [number, number]> {
    for (const [column, from, to] of columnRuns(rle)) {
      const x = column + dx;
      const [top, bottom] = [Math.max(0, from + dy), Math.min(height, to + dy)];
      if (x >= 0 && x < width && top < bottom) yield [x * height + top, x * height + bottom];
    }
  }
  return rleOfRuns(runs(), height, width);
}

/** Column, first row, last row + 1: runs that go on in the next column are cut there. */
export function* columnRuns(rle: Rle): Generator<readonly [number, number, number]> {
  const height = rle.size[0];
  for (const [from, to] of runsOf(rle)) {
    for (let start = from; start < to; ) {
      const column = Math.floor(start / height);
      const end = Math.min(to, (column + 1) * height);
      yield [column, start - column * height, end - column * height];
      start = end;
    }
  }
}
