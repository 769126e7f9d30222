import { describe, expect, it } from 'vitest';
import { HitIndex } from './hit';
import type { DrawnObject } from './model';
import { rleOfRuns } from './rle';
import { object } from './testing';

const pick = (objects: DrawnObject[], x: number, y: number, tolerance = 2) =>
  new HitIndex(objects).pick([x, y], tolerance)?.object.id ?? null;

describe('hit', () => {
  const large = object('large', { kind: 'box', box: [0, 0, 100, 100] });
  const small = object('small', { kind: 'box', box: [40, 40, 10, 10] });

  it('finds the small shape whatever lies on top of it', () => {
    expect(pick([small, large], 45, 45)).toBe('small');
    expect(pick([large, small], 45, 45)).toBe('small');
    expect(pick([small, large], 60, 60)).toBe('large');
  });

  it('finds a border before an area, and the nearest border first', () => {
    expect(pick([small, large], 99, 50)).toBe('large');
    expect(pick([small, large], 101.5, 50)).toBe('large');
    expect(pick([small, large], 103, 50)).toBeNull();
    const near = object('near', { kind: 'box', box: [101, 0, 100, 100] });
    expect(pick([large, near], 100.8, 50)).toBe('near');
  });

  it('takes the upper one of two equal shapes', () => {
    const twin = { ...small, id: 'twin' };
    expect(pick([small, twin], 45, 45)).toBe('twin');
    expect(pick([twin, small], 45, 45)).toBe('small');
  });

  it('knows every kind of shape', () => {
    const turned = object('turned', { kind: 'rotated_box', box: [50, 50, 80, 10], angle: 90 });
    expect(pick([turned], 50, 85)).toBe('turned');
    expect(pick([turned], 85, 50)).toBeNull();
    const holed = object('holed', {
      kind: 'polygon',
      parts: [
        [
          [0, 0, 100, 0, 100, 100, 0, 100],
          [20, 20, 80, 20, 80, 80, 20, 80],
        ],
      ],
    });
    expect(pick([holed], 10, 50)).toBe('holed');
    expect(pick([holed], 50, 50)).toBeNull();
    const line = object('line', { kind: 'polyline', points: [0, 0, 100, 100] });
    expect(pick([line], 51, 50)).toBe('line');
    expect(pick([line], 60, 50)).toBeNull();
    expect(pick([object('dot', { kind: 'point', points: [5, 5] })], 6, 6)).toBe('dot');
    const pose = object('pose', { kind: 'keypoints', points: [10, 10, 2, 0, 0, 0, 30, 30, 1] });
    expect(pick([pose], 30, 31)).toBe('pose');
    expect(pick([pose], 0, 0)).toBeNull();
    const mask = object('mask', { kind: 'mask', rle: rleOfRuns([[12, 14]], 10, 10) });
    expect(pick([mask], 1.5, 2.5)).toBe('mask');
    expect(pick([mask], 1.5, 5.5)).toBeNull();
  });

  it('finds nothing where nothing is', () => {
    expect(pick([], 1, 1)).toBeNull();
    expect(new HitIndex([large]).within([200, 200, 10, 10])).toEqual([]);
  });
});
