import type { VertexPlace } from '../edits';
import { moveVertex } from '../edits';
import { distance, pointAt, pointCount, rectOf, rotatedAround } from '../geometry/points';
import type { Point, Rect, Shape } from '../model';

/** Something of a selected shape that can be dragged. */
export type Handle =
  /** -1, 0 or 1: which sides of the box go along. */
  | { kind: 'side'; at: Point; across: -1 | 0 | 1; down: -1 | 0 | 1 }
  | { kind: 'turn'; at: Point }
  | { kind: 'vertex'; at: Point; place: VertexPlace }
  | { kind: 'keypoint'; at: Point; index: number };

const SIDES = [-1, 0, 1] as const;

const middleOf = ({ box }: { box: Rect }): Point => [box[0] + box[2] / 2, box[1] + box[3] / 2];

function sidesOf(centre: Point, width: number, height: number, angle: number): Handle[] {
  return SIDES.flatMap((down) =>
    SIDES.flatMap((across): Handle[] => {
      if (across === 0 && down === 0) return [];
      const at: Point = [centre[0] + (across * width) / 2, centre[1] + (down * height) / 2];
      return [{ kind: 'side', across, down, at: angle === 0 ? at : rotatedAround(at, centre, angle) }];
    }),
  );
}

function verticesOf(flat: readonly number[], part: number, ring: number): Handle[] {
  return Array.from({ length: pointCount(flat) }, (_, index) => ({
    kind: 'vertex' as const,
    at: pointAt(flat, index),
    place: { part, ring, index },
  }));
}

/** A shape with more vertices than this has handles for those in sight only. */
const MANY_VERTICES = 2000;
/** With more handles in sight they would cover each other: none is shown until one comes nearer. */
const MAX_SHOWN = 2000;

function vertexCount(shape: Shape): number {
  if (shape.kind === 'polyline') return pointCount(shape.points);
  if (shape.kind !== 'polygon') return 0;
  return shape.parts.flat().reduce((sum, ring) => sum + pointCount(ring), 0);
}

/** The vertices within a rectangle of the picture; none where they are more than `MAX_SHOWN`. */
function verticesWithin(lines: readonly (readonly (readonly number[])[])[], [x, y, width, height]: Rect): Handle[] {
  const handles: Handle[] = [];
  for (const [part, rings] of lines.entries())
    for (const [ring, flat] of rings.entries())
      for (let index = 0; 2 * index + 1 < flat.length; index++) {
        const [px, py] = [flat[2 * index] as number, flat[2 * index + 1] as number];
        if (px < x || py < y || px > x + width || py > y + height) continue;
        if (handles.length === MAX_SHOWN) return [];
        handles.push({ kind: 'vertex', at: [px, py], place: { part, ring, index } });
      }
  return handles;
}

/** The handles within a rectangle of the picture, in pixels; all handles of a shape with few vertices. */
export function handlesWithin(shape: Shape, turnReach: number, window: Rect): Handle[] {
  if (vertexCount(shape) <= MANY_VERTICES) return handlesOf(shape, turnReach);
  if (shape.kind === 'polygon') return verticesWithin(shape.parts, window);
  return shape.kind === 'polyline' ? verticesWithin([[shape.points]], window) : [];
}

/** `turnReach`: how far above a turned box its handle stands, in pixels of the picture. */
export function handlesOf(shape: Shape, turnReach: number): Handle[] {
  switch (shape.kind) {
    case 'box':
      return sidesOf(middleOf(shape), shape.box[2], shape.box[3], 0);
    case 'rotated_box': {
      const [cx, cy, width, height] = shape.box;
      const at = rotatedAround([cx, cy - height / 2 - turnReach], [cx, cy], shape.angle);
      return [{ kind: 'turn', at }, ...sidesOf([cx, cy], width, height, shape.angle)];
    }
    case 'polygon':
      return shape.parts.flatMap((rings, part) => rings.flatMap((points, ring) => verticesOf(points, part, ring)));
    case 'polyline':
      return verticesOf(shape.points, 0, 0);
    case 'keypoints':
      return keypointHandles(shape.points);
    case 'point':
    case 'mask':
      return [];
  }
}

function keypointHandles(points: readonly number[]): Handle[] {
  const handles: Handle[] = [];
  for (let index = 0; 3 * index + 2 < points.length; index++)
    if (points[3 * index + 2] !== 0)
      handles.push({ kind: 'keypoint', index, at: [points[3 * index] as number, points[3 * index + 1] as number] });
  return handles;
}

export function handleAt(handles: readonly Handle[], at: Point, reach: number): Handle | null {
  let best: Handle | null = null;
  for (const handle of handles) {
    const far = distance(handle.at, at);
    if (far <= reach && (best === null || far < distance(best.at, at))) best = handle;
  }
  return best;
}

/** The shape after its handle was dragged to a place; null: not there. */
export function dragged(shape: Shape, handle: Handle, to: Point, keepRatio: boolean): Shape | null {
  switch (handle.kind) {
    case 'vertex':
      return moveVertex(shape, handle.place, to);
    case 'keypoint':
      return shape.kind === 'keypoints'
        ? { ...shape, points: shape.points.toSpliced(3 * handle.index, 2, ...to) }
        : null;
    case 'turn': {
      if (shape.kind !== 'rotated_box') return null;
      const degrees = (Math.atan2(to[1] - shape.box[1], to[0] - shape.box[0]) * 180) / Math.PI + 90;
      const angle = keepRatio ? Math.round(degrees / 15) * 15 : degrees;
      return { ...shape, angle: ((angle % 360) + 360) % 360 };
    }
    case 'side':
      if (shape.kind === 'box') return draggedSide(shape.box, handle, to, keepRatio);
      return shape.kind === 'rotated_box' ? draggedTurnedSide(shape, handle, to, keepRatio) : null;
  }
}

type Side = Extract<Handle, { kind: 'side' }>;

/** The opposite side stays where it is; a side that is dragged over it makes the box flip. */
function draggedSide(box: Rect, { across, down }: Side, to: Point, keepRatio: boolean): Shape | null {
  const [x, y, width, height] = box;
  const fixed: Point = [across < 0 ? x + width : x, down < 0 ? y + height : y];
  let [dx, dy] = [to[0] - fixed[0], to[1] - fixed[1]];
  if (keepRatio && across !== 0 && down !== 0) {
    const factor = Math.max(Math.abs(dx) / width, Math.abs(dy) / height);
    dx = Math.sign(dx || across) * factor * width;
    dy = Math.sign(dy || down) * factor * height;
  }
  const moving: Point = [across === 0 ? x + width : fixed[0] + dx, down === 0 ? y + height : fixed[1] + dy];
  const rect = rectOf(fixed, moving);
  return rect[2] > 0 && rect[3] > 0 ? { kind: 'box', box: rect } : null;
}

function draggedTurnedSide(
  shape: Extract<Shape, { kind: 'rotated_box' }>,
  side: Side,
  to: Point,
  keepRatio: boolean,
): Shape | null {
  const centre: Point = [shape.box[0], shape.box[1]];
  const [width, height] = [shape.box[2], shape.box[3]];
  const upright: Rect = [centre[0] - width / 2, centre[1] - height / 2, width, height];
  const result = draggedSide(upright, side, rotatedAround(to, centre, -shape.angle), keepRatio);
  if (result?.kind !== 'box') return null;
  const middle = rotatedAround(middleOf(result), centre, shape.angle);
  return { ...shape, box: [...middle, result.box[2], result.box[3]] };
}
