import { distance, pointAt, pointCount } from '../geometry/points';
import { nearestEdge } from '../geometry/rings';
import { rectRing } from '../geometry/shapes';
import type { DrawnObject, Point } from '../model';
import type { ToolHost } from './tool';

function linesOf(object: DrawnObject): { points: readonly number[]; isClosed: boolean }[] {
  switch (object.kind) {
    case 'polygon':
      return object.parts.flat().map((points) => ({ points, isClosed: true }));
    case 'polyline':
      return [{ points: object.points, isClosed: false }];
    case 'box':
      return [{ points: rectRing(object.box), isClosed: true }];
    default:
      return [];
  }
}

/** The nearest vertex of a neighbour within reach, else the nearest place on an edge, else the point itself. */
export function snapped(host: ToolHost, at: Point, except?: string): Point {
  const { reach } = host;
  const near = host.objectsWithin([at[0] - reach, at[1] - reach, 2 * reach, 2 * reach]);
  let vertex: Point | null = null;
  let edge: { at: Point; distance: number } | null = null;
  for (const object of near) {
    if (object.id === except) continue;
    for (const { points, isClosed } of linesOf(object)) {
      for (let index = 0; index < pointCount(points); index++) {
        const point = pointAt(points, index);
        if (distance(point, at) <= reach && (!vertex || distance(point, at) < distance(vertex, at))) vertex = point;
      }
      const candidate = nearestEdge(points, isClosed, at);
      if (candidate && candidate.distance <= reach && (!edge || candidate.distance < edge.distance)) edge = candidate;
    }
  }
  return vertex ?? edge?.at ?? at;
}
