import type { Point, Rect } from '../model';

export const distance = ([x1, y1]: Point, [x2, y2]: Point): number => Math.hypot(x2 - x1, y2 - y1);

export const pointAt = (flat: readonly number[], index: number): Point => [
  flat[2 * index] as number,
  flat[2 * index + 1] as number,
];

export const pointCount = (flat: readonly number[]): number => flat.length >> 1;

export function pointsOf(flat: readonly number[]): Point[] {
  return Array.from({ length: pointCount(flat) }, (_, index) => pointAt(flat, index));
}

export const flatOf = (points: readonly Point[]): number[] => points.flat();

/** The segment's point that is nearest to `point`. */
export function nearestOnSegment(point: Point, from: Point, to: Point): Point {
  const dx = to[0] - from[0];
  const dy = to[1] - from[1];
  const length = dx * dx + dy * dy;
  if (length === 0) return from;
  const share = ((point[0] - from[0]) * dx + (point[1] - from[1]) * dy) / length;
  if (share <= 0) return from;
  if (share >= 1) return to;
  return [from[0] + share * dx, from[1] + share * dy];
}

export const segmentDistance = (point: Point, from: Point, to: Point): number =>
  distance(point, nearestOnSegment(point, from, to));

/** Twice the signed area of a triangle; positive when c lies to the right of a → b on the screen. */
export const crossOf = (a: Point, b: Point, c: Point): number =>
  (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

export function boundsOfFlat(flat: readonly number[], stride = 2): Rect {
  let left = Number.POSITIVE_INFINITY;
  let top = Number.POSITIVE_INFINITY;
  let right = Number.NEGATIVE_INFINITY;
  let bottom = Number.NEGATIVE_INFINITY;
  for (let index = 0; index + 1 < flat.length; index += stride) {
    const x = flat[index] as number;
    const y = flat[index + 1] as number;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return left > right ? [0, 0, 0, 0] : [left, top, right - left, bottom - top];
}

export function unionOf(rects: readonly Rect[]): Rect {
  return boundsOfFlat(rects.flatMap(([x, y, width, height]) => [x, y, x + width, y + height]));
}

export const rectOf = (a: Point, b: Point): Rect => [
  Math.min(a[0], b[0]),
  Math.min(a[1], b[1]),
  Math.abs(a[0] - b[0]),
  Math.abs(a[1] - b[1]),
];

export const rectContains = ([left, top, width, height]: Rect, [x, y]: Point): boolean =>
  x >= left && y >= top && x <= left + width && y <= top + height;

export const rectsTouch = (a: Rect, b: Rect): boolean =>
  a[0] <= b[0] + b[2] && b[0] <= a[0] + a[2] && a[1] <= b[1] + b[3] && b[1] <= a[1] + a[3];

export const grownBy = ([x, y, width, height]: Rect, margin: number): Rect => [
  x - margin,
  y - margin,
  width + 2 * margin,
  height + 2 * margin,
];

export const clampPoint = ([x, y]: Point, width: number, height: number): Point => [
  Math.min(width, Math.max(0, x)),
  Math.min(height, Math.max(0, y)),
];

export function clipRect([x, y, width, height]: Rect, right: number, bottom: number): Rect {
  return rectOf(clampPoint([x, y], right, bottom), clampPoint([x + width, y + height], right, bottom));
}

/** Turn a point around a centre, clockwise on the screen. */
export function rotatedAround([x, y]: Point, [cx, cy]: Point, degrees: number): Point {
  const radians = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return [cx + (x - cx) * cos - (y - cy) * sin, cy + (x - cx) * sin + (y - cy) * cos];
}

/** 0 <= angle < 360. */
export function normalAngle(degrees: number): number {
  const angle = ((degrees % 360) + 360) % 360;
  // A tiny negative angle rounds up to a whole turn.
  return angle === 360 ? 0 : angle;
}

/** The overlap of two rectangles; null: they have none. */
export function intersected(a: Rect, b: Rect): Rect | null {
  const left = Math.max(a[0], b[0]);
  const top = Math.max(a[1], b[1]);
  const width = Math.min(a[0] + a[2], b[0] + b[2]) - left;
  const height = Math.min(a[1] + a[3], b[1] + b[3]) - top;
  return width > 0 && height > 0 ? [left, top, width, height] : null;
}
