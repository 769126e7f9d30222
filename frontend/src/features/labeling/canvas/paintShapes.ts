import { pointAt, pointCount } from './geometry/points';
import { boundsOf, cornersOf } from './geometry/shapes';
import type { DrawnObject, Point, Skeleton } from './model';
import { paintMask } from './paintMask';
import type { View } from './view';

export interface ShapeStyle {
  color: string;
  name: string;
  skeleton: Skeleton | null;
  isSelected: boolean;
  isLocked: boolean;
}

const LINE_PX = 1.5;
const SELECTED_PX = 2.5;
const POINT_PX = 4;
const FILL = '26';
const SELECTED_FILL = '40';
const TAG_PX = 11;

/** Objects never change in place, so a path is made once for each. */
const paths = new WeakMap<DrawnObject, Path2D>();

function addRing(path: Path2D, flat: readonly number[], isClosed: boolean): void {
  for (let index = 0; index < pointCount(flat); index++) {
    const [x, y] = pointAt(flat, index);
    if (index === 0) path.moveTo(x, y);
    else path.lineTo(x, y);
  }
  if (isClosed) path.closePath();
}

function pathOf(object: DrawnObject): Path2D {
  const known = paths.get(object);
  if (known) return known;
  const path = new Path2D();
  if (object.kind === 'box') path.rect(...object.box);
  else if (object.kind === 'rotated_box') addRing(path, cornersOf(object).flat(), true);
  else if (object.kind === 'polygon') for (const ring of object.parts.flat()) addRing(path, ring, true);
  else if (object.kind === 'polyline') addRing(path, object.points, false);
  else if (object.kind === 'keypoints' && object.box) path.rect(...object.box);
  paths.set(object, path);
  return path;
}

const opaque = (color: string): string => color.slice(0, 7);

export function paintObject(
  to: CanvasRenderingContext2D,
  object: DrawnObject,
  style: ShapeStyle,
  view: View,
  ratio: number,
): void {
  to.lineWidth = (style.isSelected ? SELECTED_PX : LINE_PX) / view.scale;
  to.strokeStyle = opaque(style.color);
  to.fillStyle = opaque(style.color) + (style.isSelected ? SELECTED_FILL : FILL);
  // Colour is never the only sign: what is ignored is dashed.
  to.setLineDash(object.ignore ? [6 / view.scale, 4 / view.scale] : []);
  if (object.kind === 'mask') paintMask(to, object.rle, opaque(style.color), view, ratio);
  else if (object.kind === 'point') paintPoint(to, object.points, POINT_PX / view.scale);
  else {
    const path = pathOf(object);
    if (object.kind !== 'polyline' && object.kind !== 'keypoints') to.fill(path, 'evenodd');
    to.stroke(path);
    if (object.kind === 'keypoints') paintKeypoints(to, object.points, style, view);
  }
  to.setLineDash([]);
  if (object.kind === 'mask' && style.isSelected) paintMaskBounds(to, object, view);
}

function paintMaskBounds(to: CanvasRenderingContext2D, object: DrawnObject, view: View): void {
  to.setLineDash([4 / view.scale, 3 / view.scale]);
  to.strokeRect(...boundsOf(object));
  to.setLineDash([]);
}

function paintPoint(to: CanvasRenderingContext2D, [x, y]: Point, radius: number): void {
  to.beginPath();
  to.arc(x, y, radius, 0, 2 * Math.PI);
  to.fill();
  to.stroke();
}

/** Hidden points are hollow, visible ones filled. */
function paintKeypoints(
  to: CanvasRenderingContext2D,
  points: readonly number[],
  { skeleton, color }: ShapeStyle,
  view: View,
): void {
  const seen = (index: number) => points[3 * index + 2] ?? 0;
  const at = (index: number): Point => [points[3 * index] as number, points[3 * index + 1] as number];
  to.beginPath();
  for (const [from, to_] of skeleton?.edges ?? []) {
    if (seen(from) === 0 || seen(to_) === 0) continue;
    to.moveTo(...at(from));
    to.lineTo(...at(to_));
  }
  to.stroke();
  for (let index = 0; 3 * index + 2 < points.length; index++) {
    if (seen(index) === 0) continue;
    to.beginPath();
    to.arc(...at(index), POINT_PX / view.scale, 0, 2 * Math.PI);
    to.fillStyle = seen(index) === 2 ? opaque(color) : '#ffffff';
    to.fill();
    to.stroke();
  }
}

/** Name and transcription above the top-left corner. */
export function paintTag(to: CanvasRenderingContext2D, object: DrawnObject, style: ShapeStyle, ratio: number): void {
  const text = [style.name, object.text].filter(Boolean).join(' · ') + (style.isLocked ? ' 🔒' : '');
  if (text === '') return;
  const [x, y, width, height] = boundsOf(object);
  const corners: Point[] = [
    [x, y],
    [x + width, y],
    [x, y + height],
    [x + width, y + height],
  ];
  const matrix = to.getTransform();
  const screen = corners.map(([px, py]) => [
    matrix.a * px + matrix.c * py + matrix.e,
    matrix.b * px + matrix.d * py + matrix.f,
  ]);
  const left = Math.min(...screen.map(([px]) => px as number));
  const top = Math.min(...screen.map(([, py]) => py as number));
  to.save();
  to.setTransform(1, 0, 0, 1, 0, 0);
  to.font = `600 ${TAG_PX * ratio}px Inter, system-ui, sans-serif`;
  to.textBaseline = 'bottom';
  to.lineWidth = 3 * ratio;
  to.lineJoin = 'round';
  to.strokeStyle = '#000000b0';
  to.fillStyle = '#ffffff';
  to.strokeText(text, left + 2 * ratio, top - 1 * ratio);
  to.fillText(text, left + 2 * ratio, top - 1 * ratio);
  to.restore();
}
