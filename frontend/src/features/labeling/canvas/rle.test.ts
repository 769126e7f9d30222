import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BitMask } from './bits';
// Made by pycocotools 2.0.11: `encode`, `area` and `toBbox` of each mask.
import coco from './cocoMasks.json';
import {
  countsOfText,
  maskArea,
  maskBounds,
  maskContains,
  movedMask,
  type Rle,
  RleError,
  rleOfRuns,
  runsOf,
  textOfCounts,
} from './rle';
import { random } from './testing';

type Fixture = (typeof coco.masks)[number];
const rleOf = ({ height, width, counts }: Fixture): Rle => ({ size: [height, width], counts });
const rowsOf = (rle: Rle): string[] => {
  const mask = BitMask.of(rle);
  return Array.from({ length: mask.height }, (_, y) =>
    Array.from({ length: mask.width }, (__, x) => (mask.get(x, y) ? '1' : '0')).join(''),
  );
};
const bitsOf = ({ height, width, rows }: Fixture): BitMask => {
  const mask = new BitMask(width, height);
  rows.forEach((row, y) => {
    for (let x = 0; x < width; x++) if (row[x] === '1') mask.fillColumn(x, y, y + 1, true);
  });
  return mask;
};

describe.each(coco.masks)('mask of COCO: $name', (fixture) => {
  it('is read as it was written', () => {
    expect(rowsOf(rleOf(fixture))).toEqual(fixture.rows);
    expect(maskArea(rleOf(fixture))).toBe(fixture.area);
    expect(maskBounds(rleOf(fixture))).toEqual(fixture.box);
  });

  it('is written byte for byte', () => {
    expect(bitsOf(fixture).toRle().counts).toBe(fixture.counts);
    expect(textOfCounts(countsOfText(fixture.counts))).toBe(fixture.counts);
    expect(rleOfRuns(runsOf(rleOf(fixture)), fixture.height, fixture.width).counts).toBe(fixture.counts);
  });

  it('contains exactly its pixels', () => {
    fixture.rows.forEach((row, y) => {
      for (let x = 0; x < fixture.width; x++)
        expect(maskContains(rleOf(fixture), [x + 0.5, y + 0.5])).toBe(row[x] === '1');
    });
    expect(maskContains(rleOf(fixture), [-0.5, 1])).toBe(false);
    expect(maskContains(rleOf(fixture), [1, fixture.height])).toBe(false);
  });
});

describe('large masks', () => {
  it('are COCO’s on 24 megapixels', () => {
    const { width, height, x, y, radius, ...disc } = coco.disc;
    const mask = new BitMask(width, height);
    for (let column = 0; column < width; column++) {
      const square = radius ** 2 - (column - x) ** 2;
      if (square <= 0) continue;
      // Strictly inside of the circle, as the fixture is.
      const half = Math.ceil(Math.sqrt(square)) - 1;
      mask.fillColumn(column, y - half, y + half + 1, true);
    }
    const rle = mask.toRle();
    expect(maskArea(rle)).toBe(disc.area);
    expect(maskBounds(rle)).toEqual(disc.box);
    expect(rle.counts).toHaveLength(disc.length);
    expect(createHash('sha256').update(rle.counts).digest('hex')).toBe(disc.sha256);
  });
});

describe('broken run lengths', () => {
  it.each(['`', '0o'])('are refused: %s', (counts) => {
    expect(() => maskArea({ size: [2, 2], counts })).toThrow(RleError);
  });
});

describe('moving a mask', () => {
  it('moves each pixel and loses those that leave the picture', () => {
    const rle: Rle = rleOfRuns(
      [
        [1, 3],
        [5, 8],
      ],
      4,
      3,
    );
    expect(rowsOf(rle)).toEqual(['000', '110', '110', '010']);
    expect(rowsOf(movedMask(rle, 1, -1))).toEqual(['011', '011', '001', '000']);
    expect(rowsOf(movedMask(rle, -1, 0))).toEqual(['000', '100', '100', '100']);
    expect(movedMask(rle, 0, 0).counts).toBe(rle.counts);
  });
});

describe('strokes', () => {
  it('cover the pixels whose centres lie within the radius of the way', () => {
    const next = random(3);
    for (let round = 0; round < 60; round++) {
      const mask = new BitMask(50, 40);
      const place = (): [number, number] => [next() * 60 - 5, next() * 50 - 5];
      const [from, to, radius] = [place(), place(), 0.5 + next() * 12];
      mask.stroke(from, to, radius, true);
      for (let x = 0; x < 50; x++)
        for (let y = 0; y < 40; y++) {
          const far = distanceToWay([x + 0.5, y + 0.5], from, to);
          const isEnd = [from, to].some(([px, py]) => Math.floor(px) === x && Math.floor(py) === y);
          if (Math.abs(far - radius) > 1e-6) expect(mask.get(x, y), `${x},${y}`).toBe(far < radius || isEnd);
        }
    }
  });

  it('erase what they cover, and tell where', () => {
    const mask = new BitMask(20, 20);
    mask.stroke([10, 10], [10, 10], 100, true);
    expect(maskArea(mask.toRle())).toBe(400);
    expect(mask.stroke([10, 10], [12, 10], 2, false)).toEqual([8, 8, 6, 4]);
    expect(mask.get(10, 10)).toBe(false);
    expect(mask.get(7, 10)).toBe(true);
    expect(mask.isEmpty()).toBe(false);
  });
});

function distanceToWay([x, y]: [number, number], [x1, y1]: [number, number], [x2, y2]: [number, number]): number {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length));
  return Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1));
}
