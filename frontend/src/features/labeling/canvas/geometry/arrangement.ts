import Flatbush from 'flatbush';
import type { Part, Point, Ring } from '../model';
import { distance, flatOf, nearestOnSegment, pointAt, pointCount, segmentDistance } from './points';
import { meetingOf, ringContains, signedArea } from './rings';

/** Points that are nearer to each other than this are one: neighbours that snapped share their border. */
const SAME = 1e-6;
/** How far beside an edge its sides are looked at. */
const BESIDE = 1e-5;

export interface Segment {
  from: Point;
  to: Point;
  /** A cut has the polygon on both of its sides. */
  isCut: boolean;
}

export const segmentsOf = (parts: readonly Part[]): Segment[] =>
  parts.flat().flatMap((ring) =>
    Array.from({ length: pointCount(ring) }, (_, index) => ({
      from: pointAt(ring, index),
      to: pointAt(ring, (index + 1) % pointCount(ring)),
      isCut: false,
    })),
  );

/** Vertices by place; near ones are the same, and the first one's coordinates stay. */
class Vertices {
  readonly points: Point[] = [];
  private readonly cells = new Map<string, number[]>();

  add(point: Point): number {
    const [column, row] = [Math.round(point[0] / SAME), Math.round(point[1] / SAME)];
    for (let dx = -1; dx <= 1; dx++)
      for (let dy = -1; dy <= 1; dy++)
        for (const index of this.cells.get(`${column + dx},${row + dy}`) ?? [])
          if (distance(this.points[index] as Point, point) <= SAME) return index;
    const index = this.points.push(point) - 1;
    const key = `${column},${row}`;
    this.cells.set(key, [...(this.cells.get(key) ?? []), index]);
    return index;
  }
}

interface HalfEdge {
  from: number;
  to: number;
}

/** Where each segment is met by others. */
function meetings(segments: readonly Segment[]): Point[][] {
  const index = new Flatbush(segments.length);
  const box = ({ from, to }: Segment): [number, number, number, number] => [
    Math.min(from[0], to[0]) - SAME,
    Math.min(from[1], to[1]) - SAME,
    Math.max(from[0], to[0]) + SAME,
    Math.max(from[1], to[1]) + SAME,
  ];
  for (const segment of segments) index.add(...box(segment));
  index.finish();
  const met: Point[][] = segments.map(() => []);
  segments.forEach((segment, number) => {
    for (const other of index.search(...box(segment), (candidate) => candidate > number)) {
      const partner = segments[other] as Segment;
      const ends = touchingEnds(segment, partner);
      const crossing = ends.length > 0 ? null : meetingOf(segment.from, segment.to, partner.from, partner.to);
      for (const point of crossing ? [crossing] : ends) {
        met[number]?.push(point);
        met[other]?.push(point);
      }
    }
  });
  return met;
}

function touchingEnds(one: Segment, other: Segment): Point[] {
  const on = (point: Point, segment: Segment) => segmentDistance(point, segment.from, segment.to) <= SAME;
  return [
    ...[one.from, one.to].filter((point) => on(point, other)),
    ...[other.from, other.to].filter((point) => on(point, one)),
  ];
}

/** Every piece between two meetings once, whichever way it ran; a border wins over a cut. */
function piecesOf(segments: readonly Segment[], vertices: Vertices): (HalfEdge & { isCut: boolean })[] {
  const met = meetings(segments);
  const pieces = new Map<string, HalfEdge & { isCut: boolean }>();
  segments.forEach(({ from, to, isCut }, number) => {
    const along = [from, ...(met[number] ?? []), to].sort((a, b) => distance(from, a) - distance(from, b));
    const stops = along.map((point) => vertices.add(point));
    for (let index = 1; index < stops.length; index++) {
      const [start, end] = [stops[index - 1] as number, stops[index] as number];
      if (start === end) continue;
      const key = start < end ? `${start},${end}` : `${end},${start}`;
      if (!pieces.get(key) || !isCut) pieces.set(key, { from: start, to: end, isCut });
    }
  });
  return [...pieces.values()];
}

function beside(from: Point, to: Point, side: 1 | -1): Point {
  const length = distance(from, to);
  const step = (side * BESIDE) / length;
  return [(from[0] + to[0]) / 2 - (to[1] - from[1]) * step, (from[1] + to[1]) / 2 + (to[0] - from[0]) * step];
}

/** Half edges with the wanted area on their positive side. */
function halfEdges(
  pieces: readonly (HalfEdge & { isCut: boolean })[],
  points: readonly Point[],
  isInside: (point: Point) => boolean,
): HalfEdge[] {
  return pieces.flatMap(({ from, to, isCut }) => {
    const [start, end] = [points[from] as Point, points[to] as Point];
    const positive = isInside(beside(start, end, 1));
    const negative = isInside(beside(start, end, -1));
    if (positive && negative)
      return isCut
        ? [
            { from, to },
            { from: to, to: from },
          ]
        : [];
    if (positive) return [{ from, to }];
    return negative ? [{ from: to, to: from }] : [];
  });
}

/** Cuts that end inside of the area divide nothing. */
function withoutDeadEnds(edges: readonly HalfEdge[]): HalfEdge[] {
  let rest = [...edges];
  for (;;) {
    const neighbours = new Map<number, Set<number>>();
    for (const { from, to } of rest) {
      neighbours.set(from, (neighbours.get(from) ?? new Set()).add(to));
      neighbours.set(to, (neighbours.get(to) ?? new Set()).add(from));
    }
    const kept = rest.filter(
      ({ from, to }) => (neighbours.get(from)?.size ?? 0) > 1 && (neighbours.get(to)?.size ?? 0) > 1,
    );
    if (kept.length === rest.length) return kept;
    rest = kept;
  }
}

/** Follow half edges round the smallest areas. */
function ringsOf(edges: readonly HalfEdge[], points: readonly Point[]): number[][] {
  const leaving = new Map<number, HalfEdge[]>();
  for (const edge of edges) leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), edge]);
  const angle = (from: number, to: number) => {
    const [a, b] = [points[from] as Point, points[to] as Point];
    return Math.atan2(b[1] - a[1], b[0] - a[0]);
  };
  const next = ({ from, to }: HalfEdge): HalfEdge | undefined => {
    const back = angle(to, from);
    const turn = (edge: HalfEdge) => {
      const turned = back - angle(to, edge.to);
      return edge.to === from ? 2 * Math.PI : turned > 0 ? turned : turned + 2 * Math.PI;
    };
    return leaving.get(to)?.reduce((best, edge) => (turn(edge) < turn(best) ? edge : best));
  };
  const used = new Set<HalfEdge>();
  const rings: number[][] = [];
  for (const start of edges) {
    const ring: number[] = [];
    for (let edge: HalfEdge | undefined = start; edge && !used.has(edge); edge = next(edge)) {
      used.add(edge);
      ring.push(edge.from);
    }
    if (ring.length > 2) rings.push(...simpleRings(ring));
  }
  return rings;
}

/** A ring that comes through a vertex twice is two rings that touch there. */
function simpleRings(ring: readonly number[]): number[][] {
  const rings: number[][] = [];
  const open: number[] = [];
  for (const vertex of ring) {
    const before = open.indexOf(vertex);
    if (before >= 0) rings.push(open.splice(before));
    open.push(vertex);
  }
  rings.push(open);
  return rings.filter(({ length }) => length > 2);
}

function withoutStraightVertices(points: readonly Point[]): Point[] {
  return points.filter((point, index) => {
    const before = points[(index + points.length - 1) % points.length] as Point;
    const after = points[(index + 1) % points.length] as Point;
    return distance(point, nearestOnSegment(point, before, after)) > SAME;
  });
}

/** The areas that segments enclose and `isInside` accepts, as outer borders with their holes. */
export function areasOf(segments: readonly Segment[], isInside: (point: Point) => boolean): Part[] {
  if (segments.length === 0) return [];
  const vertices = new Vertices();
  const pieces = piecesOf(segments, vertices);
  const edges = withoutDeadEnds(halfEdges(pieces, vertices.points, isInside));
  const rings = ringsOf(edges, vertices.points)
    .map((ring) => flatOf(withoutStraightVertices(ring.map((index) => vertices.points[index] as Point))))
    .filter((ring) => pointCount(ring) > 2);
  const borders = rings.filter((ring) => signedArea(ring) > 0).sort((a, b) => signedArea(a) - signedArea(b));
  const parts = new Map<Ring, Ring[]>(borders.map((border) => [border, [border]]));
  for (const hole of rings.filter((ring) => signedArea(ring) < 0)) {
    const inside = beside(pointAt(hole, 0), pointAt(hole, 1), 1);
    const border = borders.find((candidate) => ringContains(candidate, inside));
    if (border) parts.get(border)?.push(hole);
  }
  return [...parts.values()];
}
