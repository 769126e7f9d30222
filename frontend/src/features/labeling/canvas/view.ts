import type { Point, Rect } from './model';

/** Where the picture stands on the screen, in CSS pixels: screen = rotated(picture) * scale + (x, y). */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
  /** Degrees, clockwise. */
  readonly rotation?: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const MIN_SCALE = 1 / 256;
export const MAX_SCALE = 128;

/** Quarter turns are exact: their sines and cosines are whole numbers. */
export function turnOf(degrees: number): readonly [cos: number, sin: number] {
  const quarter = (((degrees % 360) + 360) % 360) / 90;
  if (quarter === 0) return [1, 0];
  if (quarter === 1) return [0, 1];
  if (quarter === 2) return [-1, 0];
  if (quarter === 3) return [0, -1];
  const radians = (degrees * Math.PI) / 180;
  return [Math.cos(radians), Math.sin(radians)];
}

export function toScreen(view: View, [x, y]: Point): Point {
  const [cos, sin] = turnOf(view.rotation ?? 0);
  return [(x * cos - y * sin) * view.scale + view.x, (x * sin + y * cos) * view.scale + view.y];
}

export function toPicture(view: View, [x, y]: Point): Point {
  const [cos, sin] = turnOf(view.rotation ?? 0);
  const across = (x - view.x) / view.scale;
  const down = (y - view.y) / view.scale;
  return [across * cos + down * sin, down * cos - across * sin];
}

const clampScale = (scale: number): number => Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));

/** The picture's point below `at` stays where it is. */
export function zoomAt(view: View, at: Point, factor: number): View {
  const scale = clampScale(view.scale * factor);
  const ratio = scale / view.scale;
  return { ...view, scale, x: at[0] - (at[0] - view.x) * ratio, y: at[1] - (at[1] - view.y) * ratio };
}

export const panBy = (view: View, dx: number, dy: number): View => ({ ...view, x: view.x + dx, y: view.y + dy });

/** Show a rectangle of the picture in the middle, with `margin` CSS pixels around it. */
export function fitRect([left, top, width, height]: Rect, window: Size, margin = 16, rotation = 0): View {
  const [cos, sin] = turnOf(rotation);
  const across = Math.abs(width * cos) + Math.abs(height * sin);
  const down = Math.abs(width * sin) + Math.abs(height * cos);
  const room = (size: number) => Math.max(1, size - 2 * margin);
  const scale = clampScale(
    Math.min(room(window.width) / Math.max(across, 1e-9), room(window.height) / Math.max(down, 1e-9)),
  );
  const centre: Point = [left + width / 2, top + height / 2];
  const turned = toScreen({ scale, x: 0, y: 0, rotation }, centre);
  const view = { scale, x: window.width / 2 - turned[0], y: window.height / 2 - turned[1] };
  return rotation === 0 ? view : { ...view, rotation };
}

export const fit = (picture: Size, window: Size, margin = 16, rotation = 0): View =>
  fitRect([0, 0, picture.width, picture.height], window, margin, rotation);

/** The rectangle of the picture that a rectangle of the screen covers; of a turned view its bounds. */
export function pictureRect(view: View, [left, top, width, height]: Rect): Rect {
  const corners: Point[] = [
    [left, top],
    [left + width, top],
    [left, top + height],
    [left + width, top + height],
  ];
  const points = corners.map((corner) => toPicture(view, corner));
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return [x, y, Math.max(...xs) - x, Math.max(...ys) - y];
}

/** For `setTransform`: picture coordinates to device pixels. */
export function matrixOf(view: View, ratio: number): [number, number, number, number, number, number] {
  const [cos, sin] = turnOf(view.rotation ?? 0);
  const scale = view.scale * ratio;
  return [cos * scale, sin * scale, -sin * scale, cos * scale, view.x * ratio, view.y * ratio];
}

/** The matrix that turns what was painted under one view into how it looks under another, in device pixels. */
export function blitOf(from: View, to: View, ratio: number): [number, number, number, number, number, number] {
  const factor = to.scale / from.scale;
  const [cos, sin] = turnOf((to.rotation ?? 0) - (from.rotation ?? 0));
  const [a, b, c, d] = [cos * factor, sin * factor, -sin * factor, cos * factor];
  const x = from.x * ratio;
  const y = from.y * ratio;
  return [a, b, c, d, to.x * ratio - (a * x + c * y), to.y * ratio - (b * x + d * y)];
}
