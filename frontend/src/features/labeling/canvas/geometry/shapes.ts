import type { DrawnObject, MaskShape, Part, Point, Rect, RotatedBoxShape, Shape } from '../model';
import { maskArea, maskBounds, maskContains, movedMask } from '../rle';
import {
  boundsOfFlat,
  distance,
  flatOf,
  normalAngle,
  pointAt,
  pointCount,
  rectContains,
  rotatedAround,
} from './points';
import { nearestEdge, partsArea, partsContain } from './rings';

/** Top left, top right, bottom right, bottom left, as the box itself sees them. */
export function cornersOf({ box: [cx, cy, width, height], angle }: Pick<RotatedBoxShape, 'box' | 'angle'>): Point[] {
  const corners: Point[] = [
    [cx - width / 2, cy - height / 2],
    [cx + width / 2, cy - height / 2],
    [cx + width / 2, cy + height / 2],
    [cx - width / 2, cy + height / 2],
  ];
  return angle === 0 ? corners : corners.map((corner) => rotatedAround(corner, [cx, cy], angle));
}

export const rectRing = ([x, y, width, height]: Rect): number[] => [
  x,
  y,
  x + width,
  y,
  x + width,
  y + height,
  x,
  y + height,
];

/** x, y of the keypoints that are there. */
export function presentPoints(points: readonly number[]): number[] {
  const present: number[] = [];
  for (let index = 0; index + 2 < points.length; index += 3)
    if (points[index + 2] !== 0) present.push(points[index] as number, points[index + 1] as number);
  return present;
}

export function boundsOf(shape: Shape): Rect {
  switch (shape.kind) {
    case 'box':
      return shape.box;
    case 'rotated_box':
      return boundsOfFlat(flatOf(cornersOf(shape)));
    case 'polygon':
      return boundsOfFlat(shape.parts.flatMap(([border]) => border ?? []));
    case 'polyline':
    case 'point':
      return boundsOfFlat(shape.points);
    case 'keypoints':
      return boundsOfFlat([
        ...presentPoints(shape.points),
        ...(shape.box ? [shape.box[0], shape.box[1], shape.box[0] + shape.box[2], shape.box[1] + shape.box[3]] : []),
      ]);
    case 'mask':
      return maskBounds(shape.rle);
  }
}

/** Square pixels; a line and a point have none, keypoints have that of their box. */
export function areaOf(shape: Shape): number {
  switch (shape.kind) {
    case 'box':
    case 'rotated_box':
      return shape.box[2] * shape.box[3];
    case 'polygon':
      return partsArea(shape.parts);
    case 'polyline':
    case 'point':
      return 0;
    case 'keypoints':
      return shape.box ? shape.box[2] * shape.box[3] : 0;
    case 'mask':
      return maskArea(shape.rle);
  }
}

export function containsPoint(shape: Shape, point: Point): boolean {
  switch (shape.kind) {
    case 'box':
      return rectContains(shape.box, point);
    case 'rotated_box': {
      const [cx, cy, width, height] = shape.box;
      const turned = rotatedAround(point, [cx, cy], -shape.angle);
      return rectContains([cx - width / 2, cy - height / 2, width, height], turned);
    }
    case 'polygon':
      return partsContain(shape.parts, point);
    case 'keypoints':
      return rectContains(boundsOf(shape), point);
    case 'mask':
      return maskContains(shape.rle, point);
    case 'polyline':
    case 'point':
      return false;
  }
}

const ringDistance = (ring: readonly number[], point: Point, closed = true): number =>
  nearestEdge(ring, closed, point)?.distance ?? Number.POSITIVE_INFINITY;

/** How far a point is from the shape's border, line or points. */
export function borderDistance(shape: Shape, point: Point): number {
  switch (shape.kind) {
    case 'box':
      return ringDistance(rectRing(shape.box), point);
    case 'rotated_box':
      return ringDistance(flatOf(cornersOf(shape)), point);
    case 'polygon':
      return Math.min(...shape.parts.flat().map((ring) => ringDistance(ring, point)));
    case 'polyline':
      return ringDistance(shape.points, point, false);
    case 'point':
      return distance(shape.points, point);
    case 'keypoints':
      return keypointsDistance(presentPoints(shape.points), point);
    case 'mask':
      return maskContains(shape.rle, point) ? 0 : Number.POSITIVE_INFINITY;
  }
}

function keypointsDistance(flat: readonly number[], point: Point): number {
  let best = Number.POSITIVE_INFINITY;
  for (let index = 0; index < pointCount(flat); index++) best = Math.min(best, distance(pointAt(flat, index), point));
  return best;
}

/** Every coordinate of a shape goes through `to`; masks and angles are left to the callers that can. */
function mapped(shape: Exclude<Shape, MaskShape>, to: (point: Point) => Point): Shape {
  const flat = (points: readonly number[]) =>
    flatOf(Array.from({ length: pointCount(points) }, (_, i) => to(pointAt(points, i))));
  const rect = ([x, y, width, height]: Rect): Rect => {
    const [left, top] = to([x, y]);
    const [right, bottom] = to([x + width, y + height]);
    return [left, top, right - left, bottom - top];
  };
  switch (shape.kind) {
    case 'box':
      return { ...shape, box: rect(shape.box) };
    case 'rotated_box': {
      const [cx, cy] = to([shape.box[0], shape.box[1]]);
      return { ...shape, box: [cx, cy, shape.box[2], shape.box[3]] };
    }
    case 'polygon':
      return { ...shape, parts: shape.parts.map((part: Part) => part.map(flat)) };
    case 'polyline':
      return { ...shape, points: flat(shape.points) };
    case 'point':
      return { ...shape, points: to(shape.points) };
    case 'keypoints':
      return {
        ...shape,
        points: mapKeypoints(shape.points, to),
        ...(shape.box ? { box: rect(shape.box) } : {}),
      };
  }
}

function mapKeypoints(points: readonly number[], to: (point: Point) => Point): number[] {
  const moved: number[] = [];
  for (let index = 0; index + 2 < points.length; index += 3) {
    const [x, y, seen] = [points[index] as number, points[index + 1] as number, points[index + 2] as number];
    if (seen === 0) moved.push(0, 0, 0);
    else moved.push(...to([x, y]), seen);
  }
  return moved;
}

/** A mask moves by whole pixels. */
export function moved<T extends Shape>(shape: T, dx: number, dy: number): T {
  if (dx === 0 && dy === 0) return shape;
  if (shape.kind === 'mask') return { ...shape, rle: movedMask(shape.rle, Math.round(dx), Math.round(dy)) };
  // Width and height stay exactly what they were: adding and subtracting again would change their last bits.
  if (shape.kind === 'box') return { ...shape, box: shiftedRect(shape.box, dx, dy) };
  const result = mapped(shape, ([x, y]) => [x + dx, y + dy]);
  if (result.kind === 'keypoints' && shape.kind === 'keypoints' && shape.box)
    return { ...result, box: shiftedRect(shape.box, dx, dy) } as Shape as T;
  return result as T;
}

const shiftedRect = ([x, y, width, height]: Rect, dx: number, dy: number): Rect => [x + dx, y + dy, width, height];

/** The shape that fills `to` as it filled `from`; masks keep their size, and turned boxes their angle. */
export function resized(shape: Shape, from: Rect, to: Rect): Shape {
  if (shape.kind === 'mask') return shape;
  if (shape.kind === 'box' && from.every((value, index) => value === shape.box[index])) return { ...shape, box: to };
  const across = from[2] === 0 ? 1 : to[2] / from[2];
  const down = from[3] === 0 ? 1 : to[3] / from[3];
  const result = mapped(shape, ([x, y]) => [to[0] + (x - from[0]) * across, to[1] + (y - from[1]) * down]);
  if (result.kind !== 'rotated_box') return result;
  const [cx, cy, width, height] = result.box;
  // Quarter turns swap the sides; between them both sides change as the box's axes lie.
  const radians = (result.angle * Math.PI) / 180;
  const along = Math.hypot(Math.cos(radians) * across, Math.sin(radians) * down);
  const aside = Math.hypot(Math.sin(radians) * across, Math.cos(radians) * down);
  return { ...result, box: [cx, cy, width * along, height * aside] };
}

/** The shift that is nearest to (dx, dy) and takes nothing out of the picture that lies inside it. */
export function allowedShift(bounds: Rect, dx: number, dy: number, width: number, height: number): Point {
  const axis = (start: number, size: number, shift: number, limit: number) => {
    if (start < 0 || start + size > limit) return Math.min(limit - start, Math.max(-start - size, shift));
    return Math.min(limit - start - size, Math.max(-start, shift));
  };
  return [axis(bounds[0], bounds[2], dx, width), axis(bounds[1], bounds[3], dy, height)];
}

/** Turn a shape around a point: boxes become turned ones, keypoints lose their box, masks stay. */
export function turned(shape: Shape, centre: Point, degrees: number): Shape {
  if (shape.kind === 'mask' || degrees === 0) return shape;
  const result = mapped(turnable(shape), (point) => rotatedAround(point, centre, degrees));
  return result.kind === 'rotated_box' ? { ...result, angle: normalAngle(result.angle + degrees) } : result;
}

function turnable(shape: Exclude<Shape, MaskShape>): Exclude<Shape, MaskShape> {
  if (shape.kind === 'keypoints') return { kind: 'keypoints', points: shape.points };
  if (shape.kind !== 'box') return shape;
  const [x, y, width, height] = shape.box;
  return { kind: 'rotated_box', box: [x + width / 2, y + height / 2, width, height], angle: 0 };
}

const GEOMETRY = ['kind', 'box', 'angle', 'parts', 'points', 'rle'] as const;

/** Only the geometry of an object. */
export function shapeOf(object: DrawnObject): Shape {
  const fields = object as unknown as Record<string, unknown>;
  return Object.fromEntries(
    GEOMETRY.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]]])),
  ) as unknown as Shape;
}

/** An object with another geometry. */
export function withShape(object: DrawnObject, shape: Shape): DrawnObject {
  const rest = Object.fromEntries(
    Object.entries(object).filter(([key]) => !(GEOMETRY as readonly string[]).includes(key)),
  );
  return { ...rest, ...shape } as DrawnObject;
}
