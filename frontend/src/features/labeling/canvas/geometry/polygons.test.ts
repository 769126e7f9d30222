import { describe, expect, it } from 'vitest';
import type { Part, Point } from '../model';
import { random } from '../testing';
import { cutPolygon, mergePolygons, subtractRing } from './polygons';
import { partsArea, partsContain, polygonProblem, selfCrossing } from './rings';

const square = (x: number, y: number, size: number): number[] => [x, y, x + size, y, x + size, y + size, x, y + size];

/** A star of random radii round a centre: simple, and rarely convex. */
function star(next: () => number, cx: number, cy: number, points: number): number[] {
  return Array.from({ length: points }, (_, index) => {
    const angle = (index / points) * 2 * Math.PI;
    const radius = 10 + next() * 40;
    return [cx + Math.cos(angle) * radius, cy + Math.sin(angle) * radius];
  }).flat();
}

function sameEverywhere(next: () => number, parts: readonly Part[], isInside: (point: Point) => boolean): void {
  for (let probe = 0; probe < 200; probe++) {
    const point: Point = [next() * 200, next() * 200];
    expect(partsContain(parts, point), point.join()).toBe(isInside(point));
  }
}

describe('merging', () => {
  it('joins neighbours at the border that they share, and drops the points in between', () => {
    const [part, other] = mergePolygons([[[square(0, 0, 10)]], [[square(10, 0, 10)]]]);
    expect(other).toBeUndefined();
    expect(part).toHaveLength(1);
    expect(part?.[0]).toHaveLength(8);
    expect(partsArea([part as Part])).toBe(200);
  });

  it('keeps what lies apart as parts, and what is enclosed as a hole', () => {
    expect(mergePolygons([[[square(0, 0, 10)]], [[square(50, 0, 10)]]])).toHaveLength(2);
    const ring = [
      [[0, 0, 30, 0, 30, 10, 0, 10]],
      [[0, 20, 30, 20, 30, 30, 0, 30]],
      [[0, 5, 10, 5, 10, 25, 0, 25]],
      [[20, 5, 30, 5, 30, 25, 20, 25]],
    ];
    const merged = mergePolygons(ring.map((part) => [part]));
    expect(merged).toHaveLength(1);
    expect(merged[0]).toHaveLength(2);
    expect(partsArea(merged)).toBe(800);
  });

  it('contains exactly what either polygon contains', () => {
    const next = random(5);
    for (let round = 0; round < 40; round++) {
      const [a, b] = [[[star(next, 90, 90, 9)]], [[star(next, 90 + next() * 40, 100, 12)]]];
      const merged = mergePolygons([a, b]);
      sameEverywhere(next, merged, (point) => partsContain(a, point) || partsContain(b, point));
      expect(polygonProblem(merged)).toBeNull();
    }
  });
});

describe('cutting', () => {
  it('gives the largest piece first', () => {
    const pieces = cutPolygon([[square(0, 0, 10)]], [3, -1, 3, 11]);
    expect(pieces.map(partsArea)).toEqual([70, 30]);
  });

  it('follows a bent line, and cuts through holes', () => {
    const holed = [[square(0, 0, 30), square(10, 10, 10)]];
    const pieces = cutPolygon(holed, [-5, 15, 15, 15, 15, 40]);
    expect(pieces).toHaveLength(2);
    expect(pieces.reduce((sum, piece) => sum + partsArea(piece), 0)).toBeCloseTo(800, 9);
    const next = random(6);
    sameEverywhere(next, pieces.flat(), (point) => partsContain(holed, point));
  });

  it('leaves a polygon whole that the line does not divide', () => {
    const whole = [[square(0, 0, 10)]];
    expect(cutPolygon(whole, [5, -1, 5, 5])).toEqual([whole]);
    expect(cutPolygon(whole, [50, 50, 60, 60])).toEqual([whole]);
    expect(cutPolygon(whole, [])).toEqual([whole]);
  });

  it('leaves other parts with the largest piece', () => {
    const parts = [[square(0, 0, 10)], [square(100, 0, 10)]];
    const pieces = cutPolygon(parts, [4, -1, 4, 11]);
    expect(pieces.map((piece) => piece.length)).toEqual([2, 1]);
  });
});

describe('holes', () => {
  it('are cut out of the inside, and bites out of the border', () => {
    expect(partsArea(subtractRing([[square(0, 0, 30)]], square(10, 10, 10)))).toBe(800);
    expect(subtractRing([[square(0, 0, 30)]], square(10, 10, 10))[0]).toHaveLength(2);
    const bitten = subtractRing([[square(0, 0, 30)]], square(20, 10, 20));
    expect(bitten[0]).toHaveLength(1);
    expect(partsArea(bitten)).toBe(700);
    expect(subtractRing([[square(0, 0, 30)]], square(-5, -5, 50))).toEqual([]);
  });

  it('contain exactly what was there before and not in them', () => {
    const next = random(8);
    for (let round = 0; round < 40; round++) {
      const [parts, ring] = [[[star(next, 90, 90, 15)]], star(next, 80 + next() * 40, 100, 7)];
      const rest = subtractRing(parts, ring);
      sameEverywhere(next, rest, (point) => partsContain(parts, point) && !partsContain([[ring]], point));
      expect(polygonProblem(rest)).toBeNull();
    }
  });
});

describe('problems', () => {
  it('name the place where a border crosses itself', () => {
    expect(selfCrossing([[[0, 0, 10, 10, 10, 0, 0, 10]]])).toEqual([5, 5]);
    expect(selfCrossing([[square(0, 0, 10)]])).toBeNull();
    expect(polygonProblem([[[0, 0, 10, 0, 5, 0, 5, 5]]])).toMatchObject({ code: 'crossing' });
  });

  it('tell crossings, holes outside, overlaps and flat rings apart', () => {
    expect(polygonProblem([[square(0, 0, 10), square(20, 20, 5)]])).toEqual({ code: 'holeOutside', at: [20, 20] });
    expect(polygonProblem([[square(0, 0, 10)], [square(2, 2, 2)]])).toEqual({ code: 'overlap', at: [2, 2] });
    expect(polygonProblem([[square(0, 0, 10)], [square(5, 5, 10)]])).toMatchObject({ code: 'crossing' });
    expect(polygonProblem([[[0, 0, 5, 5, 10, 10]]])).toMatchObject({ code: 'tooFewPoints' });
    expect(polygonProblem([[square(0, 0, 30), square(5, 5, 10)], [square(7, 7, 3)]])).toBeNull();
  });
});
