import { describe, expect, test } from 'vitest';
import { align, extent, Series } from './series';

const wave = (count: number) => {
  const series = new Series();
  for (let i = 0; i < count; i++) series.push(i, Math.sin(i / 50) * (i % 97));
  return series;
};

function plainRange(series: Series, from: number, to: number): [number, number] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; i++) {
    min = Math.min(min, series.y(i));
    max = Math.max(max, series.y(i));
  }
  return [min, max];
}

describe('Series', () => {
  test('the index gives the same extremes as looking at every point', () => {
    const series = wave(5000);
    for (const [from, to] of [
      [0, 5000],
      [3, 4],
      [255, 257],
      [256, 512],
      [700, 4999],
      [10, 10],
    ] as const)
      expect(series.range(from, to)).toEqual(plainRange(series, from, to));
  });

  test('a run restarted from a checkpoint replaces the points after it', () => {
    const series = wave(1000);
    series.push(300, 1e6);
    expect(series.length).toBe(301);
    expect(series.range(0, 301)[1]).toBe(1e6);
    series.push(200, 0);
    expect(series.range(0, series.length)).toEqual(plainRange(series, 0, series.length));
  });

  test('a diverged loss does not hide the extremes around it', () => {
    const series = new Series();
    for (let i = 0; i < 600; i++) series.push(i, i === 0 ? Number.NaN : i);
    expect(series.range(0, 600)).toEqual([1, 599]);
  });
});

describe('align', () => {
  test('few points are drawn exactly, each series at its own steps', () => {
    const a = Series.from([0, 2, 4], [1, 2, 3]);
    const b = Series.from([1, 2, 3], [9, 8, 7]);
    expect(align([a, b], 0, 4, 500)).toEqual([
      [0, 1, 2, 3, 4],
      [1, null, 2, null, 3],
      [null, 9, 8, 7, null],
    ]);
  });

  test('many points become two per pixel and keep a lone spike', () => {
    const series = wave(100_000);
    const spiked = new Series();
    for (let i = 0; i < series.length; i++) spiked.push(i, i === 43_210 ? 500 : series.y(i));
    const [xs, ys] = align([spiked], 0, 99_999, 800);
    expect(xs).toHaveLength(1600);
    expect(Math.max(...(ys as number[]).filter((y) => y !== null))).toBe(500);
  });

  test('no points: no extent', () => {
    expect(extent([new Series()])).toBeNull();
    expect(extent([Series.from([3, 9], [0, 0]), Series.from([1], [0])])).toEqual([1, 9]);
  });
});
