import type { Part, Ring } from '../model';
import { areasOf, segmentsOf } from './arrangement';
import { pointAt, pointCount } from './points';
import { partsArea, partsContain, ringContains } from './rings';

/** All that lies in any of the polygons; those that share a border become one part. */
export const mergePolygons = (polygons: readonly (readonly Part[])[]): Part[] =>
  areasOf(polygons.flatMap(segmentsOf), (point) => polygons.some((parts) => partsContain(parts, point)));

/** The polygon without the area of a ring: a hole, or a bite where the ring crosses the border. */
export const subtractRing = (parts: readonly Part[], ring: Ring): Part[] =>
  areasOf(
    [...segmentsOf(parts), ...segmentsOf([[ring]])],
    (point) => partsContain(parts, point) && !ringContains(ring, point),
  );

/** The pieces of a polygon along a line, the largest first; a line that does not divide it gives it back whole. */
export function cutPolygon(parts: readonly Part[], line: readonly number[]): Part[][] {
  const cuts = Array.from({ length: Math.max(0, pointCount(line) - 1) }, (_, index) => ({
    from: pointAt(line, index),
    to: pointAt(line, index + 1),
    isCut: true,
  }));
  const untouched: Part[] = [];
  const pieces: Part[] = [];
  for (const part of parts) {
    const areas = areasOf([...segmentsOf([part]), ...cuts], (point) => partsContain([part], point));
    if (areas.length > 1) pieces.push(...areas);
    else untouched.push(part);
  }
  if (pieces.length === 0) return [[...parts]];
  const [largest, ...others] = pieces.sort((a, b) => partsArea([b]) - partsArea([a]));
  return [[largest as Part, ...untouched], ...others.map((piece) => [piece])];
}
