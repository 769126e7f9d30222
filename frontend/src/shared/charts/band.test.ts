import { expect, test } from 'vitest';
import { type Columns, drawBand } from './band';

type Point = [number, number];

/** Keeps what is drawn: each shape as its points. */
class Paper {
  readonly shapes: Point[][] = [];
  moveTo = (x: number, y: number) => void this.shapes.push([[x, y]]);
  lineTo = (x: number, y: number) => void this.shapes.at(-1)?.push([x, y]);
  closePath = () => {};
}

function draw(columns: Columns) {
  const [area, line] = [new Paper(), new Paper()];
  drawBand(columns, 1, 2, area, line);
  return { areas: area.shapes, lines: line.shapes };
}

/** The lower and upper end of an area at the middle of a column. */
const heightAt = (shape: Point[] | undefined, x: number) =>
  shape?.filter(([at]) => at === x).map(([, y]) => y) as number[];

test('an area goes from the lowest to the highest of each column and is as thick as its line', () => {
  const { areas, lines } = draw({ x: [0.5, 1.5, 2.5], top: [10, 12, 11], bottom: [14, 20, 13] });
  expect(areas).toHaveLength(1);
  expect([0.5, 1.5, 2.5].map((x) => heightAt(areas[0], x))).toEqual([
    [9, 15],
    [11, 21],
    [10, 14],
  ]);
  // As wide as its columns, not from middle to middle.
  expect(areas[0]?.map(([x]) => x)).toEqual([0, 0.5, 1.5, 2.5, 3, 3, 2.5, 1.5, 0.5, 0]);
  expect(lines).toEqual([]);
});

test('where a curve jumps, its columns meet', () => {
  const { areas } = draw({ x: [0.5, 1.5, 2.5], top: [10, 110, 50], bottom: [10, 120, 60] });
  expect([0.5, 1.5, 2.5].map((x) => heightAt(areas[0], x))).toEqual([
    [9, 61],
    [59, 121],
    [49, 86],
  ]);
});

test('columns without points are crossed by a line between the nearest ends', () => {
  const down = draw({ x: [0.5, 1.5, 7.5], top: [10, 10, 50], bottom: [20, 20, 60] });
  expect(down.areas).toHaveLength(2);
  expect(down.lines).toEqual([
    [
      [1.5, 20],
      [7.5, 50],
    ],
  ]);
  const up = draw({ x: [0.5, 7.5], top: [50, 10], bottom: [60, 20] });
  expect(up.lines).toEqual([
    [
      [0.5, 50],
      [7.5, 20],
    ],
  ]);
  const level = draw({ x: [0.5, 7.5], top: [10, 14], bottom: [20, 30] });
  expect(level.lines).toEqual([
    [
      [0.5, 17],
      [7.5, 17],
    ],
  ]);
});

test('a single point is a spot as wide as its column; no point is nothing', () => {
  expect(draw({ x: [4], top: [7], bottom: [7] }).areas[0]).toEqual([
    [3.5, 6],
    [4, 6],
    [4.5, 6],
    [4.5, 8],
    [4, 8],
    [3.5, 8],
  ]);
  expect(draw({ x: [], top: [], bottom: [] })).toEqual({ areas: [], lines: [] });
});
