import Flatbush from 'flatbush';
import type { Part, Point, Ring } from '../model';
import { crossOf, distance, nearestOnSegment, pointAt, pointCount } from './points';

/** Positive when the ring runs clockwise on the screen. */
export function signedArea(ring: Ring): number {
  const count = pointCount(ring);
  let sum = 0;
  for (let index = 0; index < count; index++) {
    const [x1, y1] = pointAt(ring, index);
    const [x2, y2] = pointAt(ring, (index + 1) % count);
    sum += x1 * y2 - x2 * y1;
  }
  return sum / 2;
}

export function ringContains(ring: Ring, [x, y]: Point): boolean {
  const count = pointCount(ring);
  let inside = false;
  for (let index = 0, last = count - 1; index < count; last = index++) {
    const [x1, y1] = pointAt(ring, index);
    const [x2, y2] = pointAt(ring, last);
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

/** Inside of an odd number of rings: a hole is not part of its polygon. */
export const partsContain = (parts: readonly Part[], point: Point): boolean =>
  parts.reduce((odd, part) => part.reduce((inside, ring) => inside !== ringContains(ring, point), odd), false);

export const partsArea = (parts: readonly Part[]): number =>
  parts.reduce(
    (sum, [border, ...holes]) =>
      sum +
      Math.abs(border ? signedArea(border) : 0) -
      holes.reduce((hollow, hole) => hollow + Math.abs(signedArea(hole)), 0),
    0,
  );

export interface NearEdge {
  /** The edge runs from this vertex to the next one. */
  index: number;
  at: Point;
  distance: number;
}

/** The edge of a line or ring that is nearest to a point. */
export function nearestEdge(flat: readonly number[], closed: boolean, point: Point): NearEdge | null {
  const count = pointCount(flat);
  const edges = closed ? count : count - 1;
  let best: NearEdge | null = null;
  for (let index = 0; index < edges; index++) {
    const at = nearestOnSegment(point, pointAt(flat, index), pointAt(flat, (index + 1) % count));
    const far = distance(point, at);
    if (best === null || far < best.distance) best = { index, at, distance: far };
  }
  return best;
}

interface Edge {
  from: Point;
  to: Point;
  ring: number;
  index: number;
  count: number;
}

function edgesOf(rings: readonly Ring[]): Edge[] {
  return rings.flatMap((ring, number) => {
    const count = pointCount(ring);
    return Array.from({ length: count }, (_, index) => ({
      from: pointAt(ring, index),
      to: pointAt(ring, (index + 1) % count),
      ring: number,
      index,
      count,
    }));
  });
}

/** Where two segments meet, ends included; of segments that lie on each other the middle of what they share. */
export function meetingOf(a: Point, b: Point, c: Point, d: Point): Point | null {
  const d1 = crossOf(a, b, c);
  const d2 = crossOf(a, b, d);
  const d3 = crossOf(c, d, a);
  const d4 = crossOf(c, d, b);
  if (d1 === 0 && d2 === 0) return sharedMiddle(a, b, c, d);
  if (d1 > 0 === d2 > 0 && d1 !== 0 && d2 !== 0) return null;
  if (d3 > 0 === d4 > 0 && d3 !== 0 && d4 !== 0) return null;
  const share = d3 / (d3 - d4);
  return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
}

function sharedMiddle(a: Point, b: Point, c: Point, d: Point): Point | null {
  const axis = Math.abs(b[0] - a[0]) >= Math.abs(b[1] - a[1]) ? 0 : 1;
  const [first, second] = [a, b].sort((one, other) => one[axis] - other[axis]) as [Point, Point];
  const [third, fourth] = [c, d].sort((one, other) => one[axis] - other[axis]) as [Point, Point];
  const low = first[axis] > third[axis] ? first : third;
  const high = second[axis] < fourth[axis] ? second : fourth;
  if (low[axis] > high[axis]) return null;
  return [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
}

/** Neighbours share one vertex; they cross only if one runs back over the other. */
function crossingOf(one: Edge, other: Edge): Point | null {
  const follows = (a: Edge, b: Edge) => a.ring === b.ring && (a.index + 1) % a.count === b.index;
  const [first, second] = follows(one, other) ? [one, other] : [other, one];
  if (!follows(first, second)) return meetingOf(one.from, one.to, other.from, other.to);
  const turnsBack =
    crossOf(first.from, first.to, second.to) === 0 &&
    (first.to[0] - first.from[0]) * (second.to[0] - second.from[0]) +
      (first.to[1] - first.from[1]) * (second.to[1] - second.from[1]) <=
      0;
  return turnsBack ? second.from : null;
}

/** Where borders of a polygon cross or touch each other; null: nowhere. */
export function selfCrossing(parts: readonly Part[]): Point | null {
  const edges = edgesOf(parts.flat());
  if (edges.length === 0) return null;
  const index = new Flatbush(edges.length);
  for (const { from, to } of edges)
    index.add(Math.min(from[0], to[0]), Math.min(from[1], to[1]), Math.max(from[0], to[0]), Math.max(from[1], to[1]));
  index.finish();
  for (const [number, edge] of edges.entries()) {
    const { from, to } = edge;
    const near = index.search(
      Math.min(from[0], to[0]),
      Math.min(from[1], to[1]),
      Math.max(from[0], to[0]),
      Math.max(from[1], to[1]),
      (candidate) => candidate > number,
    );
    for (const candidate of near) {
      const at = crossingOf(edge, edges[candidate] as Edge);
      if (at) return at;
    }
  }
  return null;
}

/** A line that is still being drawn: whether its last segment crosses an earlier one. */
export function lastSegmentCrosses(flat: readonly number[]): Point | null {
  const count = pointCount(flat);
  if (count < 4) return null;
  const [from, to] = [pointAt(flat, count - 2), pointAt(flat, count - 1)];
  for (let index = 0; index < count - 3; index++) {
    const at = meetingOf(pointAt(flat, index), pointAt(flat, index + 1), from, to);
    if (at) return at;
  }
  return null;
}

export type PolygonProblem = { code: 'crossing' | 'holeOutside' | 'overlap' | 'tooFewPoints'; at: Point };

/** Why a polygon is refused, and where. */
export function polygonProblem(parts: readonly Part[]): PolygonProblem | null {
  for (const ring of parts.flat()) {
    if (pointCount(ring) < 3 || signedArea(ring) === 0) return { code: 'tooFewPoints', at: pointAt(ring, 0) };
  }
  const crossing = selfCrossing(parts);
  if (crossing) return { code: 'crossing', at: crossing };
  for (const [number, [border, ...holes]] of parts.entries()) {
    if (!border) continue;
    for (const [index, hole] of holes.entries()) {
      const at = pointAt(hole, 0);
      if (!ringContains(border, at)) return { code: 'holeOutside', at };
      if (holes.some((other, place) => place !== index && ringContains(other, at))) return { code: 'overlap', at };
    }
    for (const [place, [other, ...hollows]] of parts.entries()) {
      if (place === number || !other) continue;
      const at = pointAt(border, 0);
      if (ringContains(other, at) && !hollows.some((hollow) => ringContains(hollow, at)))
        return { code: 'overlap', at };
    }
  }
  return null;
}
