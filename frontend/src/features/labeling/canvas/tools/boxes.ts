import { boundsOfFlat, crossOf, distance, flatOf, normalAngle } from '../geometry/points';
import { cornersOf, rectRing } from '../geometry/shapes';
import type { Point, RotatedBoxShape } from '../model';
import { IDLE, insidePicture, type Tool, type ToolHost } from './tool';

/** Points by clicks until there are enough of them; Backspace takes the last one back. */
function clickedPoints(
  host: ToolHost,
  options: Pick<Tool, 'name'> & {
    count: number;
    mayStart(): boolean;
    finish(points: readonly Point[]): void;
    paint: (paint: Parameters<Tool['paint']>[0], points: readonly Point[], pointer: Point | null) => void;
  },
): Tool {
  let points: Point[] = [];
  let pointer: Point | null = null;
  const set = (next: Point[]) => {
    points = next;
    host.changed();
  };
  return {
    ...IDLE,
    name: options.name,
    pointerDown({ at }) {
      if (points.length === 0 && !options.mayStart()) return;
      const next = [...points, insidePicture(at, host.editor.document)];
      set(next.length < options.count ? next : []);
      if (next.length === options.count) options.finish(next);
    },
    pointerMove({ at }) {
      pointer = insidePicture(at, host.editor.document);
    },
    key({ key }) {
      if (key !== 'Backspace' || points.length === 0) return false;
      set(points.slice(0, -1));
      return true;
    },
    cancel() {
      const wasDrawing = points.length > 0;
      set([]);
      return wasDrawing;
    },
    paint: (paint) => options.paint(paint, points, pointer),
  };
}

/** A box by its topmost, leftmost, lowest and rightmost point, in any order: the quickest way to an exact one. */
export const extremeBoxTool = (host: ToolHost): Tool =>
  clickedPoints(host, {
    name: 'extreme-box',
    count: 4,
    mayStart: () => host.mayDraw('box'),
    finish(points) {
      const box = boundsOfFlat(flatOf(points));
      if (box[2] > 0 && box[3] > 0) host.create({ kind: 'box', box });
      else host.notify({ code: 'tooFewPoints', at: points[0] as Point });
    },
    paint(paint, points, pointer) {
      if (points.length === 0) return;
      paint.handles(points);
      const shown = pointer ? [...points, pointer] : points;
      paint.line(rectRing(boundsOfFlat(flatOf(shown))), { closed: true, dashed: true });
    },
  });

/** The box whose upper side runs from `a` to `b` and whose lower side runs through `c`. */
export function boxOnSide(a: Point, b: Point, c: Point): RotatedBoxShape | null {
  const width = distance(a, b);
  if (width === 0) return null;
  // Positive: `c` lies to the right of the way from `a` to `b`, which is below it on the screen.
  const height = crossOf(a, b, c) / width;
  if (height === 0) return null;
  // A side that was drawn with its box above it is the lower one: the box then stands on its head.
  const [from, to] = height > 0 ? [a, b] : [b, a];
  const [dx, dy] = [(to[0] - from[0]) / width, (to[1] - from[1]) / width];
  const half = Math.abs(height) / 2;
  const centre: Point = [(a[0] + b[0]) / 2 - dy * half, (a[1] + b[1]) / 2 + dx * half];
  const angle = normalAngle((Math.atan2(dy, dx) * 180) / Math.PI);
  return { kind: 'rotated_box', box: [centre[0], centre[1], width, Math.abs(height)], angle };
}

/** A turned box by the two ends of one side and a point of the opposite one. */
export const rotatedBoxTool = (host: ToolHost): Tool =>
  clickedPoints(host, {
    name: 'rotated-box',
    count: 3,
    mayStart: () => host.mayDraw('rotated_box'),
    finish([a, b, c]) {
      const shape = a && b && c ? boxOnSide(a, b, c) : null;
      if (shape) host.create(shape);
      else if (a) host.notify({ code: 'tooFewPoints', at: a });
    },
    paint(paint, points, pointer) {
      const [a, b] = points;
      const shape = a && b && pointer ? boxOnSide(a, b, pointer) : null;
      if (shape) paint.line(flatOf(cornersOf(shape)), { closed: true, fill: true });
      else if (a && pointer) paint.line([...a, ...(b ?? pointer)]);
      paint.handles(points);
    },
  });
