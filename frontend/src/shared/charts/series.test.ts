import { describe, expect, test } from 'vitest';
import { markOf } from './marks';
import { align, areBuckets, extent, Series } from './series';

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
      [15, 17],
      [16, 32],
      [17, 300],
      [240, 273],
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

  test('an index near a guess is the index, however wrong the guess', () => {
    const series = new Series();
    for (let i = 0; i < 700; i++) series.push(i * 3, i);
    for (const from of [0, 5, 650, 699, 700])
      for (const value of [0, 1, 3, 16, 1500, 1999, 2097, 2098, 9999])
        for (const guess of [0, 1, 6, 500, 667, 699, 700, 9000])
          expect(series.indexNear(value, from, guess)).toBe(Math.max(from, series.indexOf(value)));
    expect(new Series().indexNear(3, 0, 0)).toBe(0);
  });

  test('points after a restart count in the extremes, those before it no longer', () => {
    const series = new Series(4);
    for (let i = 0; i < 530; i++) series.push(i, i % 2 ? -i : i);
    series.push(519, 5);
    for (const [from, to] of [
      [0, 520],
      [500, 520],
      [512, 520],
    ] as const)
      expect(series.range(from, to)).toEqual(plainRange(series, from, to));
  });

  test('a diverged loss does not hide the extremes around it', () => {
    const series = new Series();
    for (let i = 0; i < 600; i++) series.push(i, i === 0 ? Number.NaN : i);
    expect(series.range(0, series.length)).toEqual([1, 599]);
  });

  test('NaN and infinity are gaps with marks, and a restarted run takes them back', () => {
    const series = Series.from([0, 1, 2, 3, 4, 5], [1, Number.NaN, Number.POSITIVE_INFINITY, 2, 3, Number.NaN]);
    expect(series.length).toBe(3);
    expect(series.undrawn.map(({ x, y }) => [x, markOf(y)])).toEqual([
      [1, 'nan'],
      [2, 'up'],
      [5, 'nan'],
    ]);
    expect(series.gaps()).toEqual([[0, 3]]);
    expect([series.at(2), series.at(3), series.lastY]).toEqual([Number.POSITIVE_INFINITY, 2, Number.NaN]);
    expect(extent([series])).toEqual([0, 5]);
    expect(align([series], 0, 5, 500)).toEqual([
      [0, 1, 2, 3, 4, 5],
      [1, null, null, 2, 3, null],
    ]);
    series.push(2, 7);
    expect(series.undrawn.map(({ x }) => x)).toEqual([1]);
    expect(series.lastY).toBe(7);
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

  test('many points become two per pixel at most and keep a lone spike', () => {
    const series = wave(100_000);
    const spiked = new Series();
    for (let i = 0; i < series.length; i++) spiked.push(i, i === 43_210 ? 500 : series.y(i));
    const [xs, ys] = align([spiked], 0, 99_999, 800);
    expect(xs.length).toBeLessThanOrEqual(1600);
    expect(xs.length).toBeGreaterThan(1400);
    expect([xs[0], xs.at(-1)]).toEqual([0, 99_999]);
    expect(areBuckets(xs)).toBe(true);
    expect(areBuckets(align([Series.from([0, 1], [2, 3])], 0, 1, 800)[0])).toBe(false);
    expect(Math.max(...(ys as number[]).filter((y) => y !== null))).toBe(500);
  });

  test('a bucket has the extremes of its points, whatever the buckets before it had', () => {
    const series = new Series();
    // Dense, then with holes, then dense again: the next bucket begins far from where it is looked for.
    for (let x = 0; x < 60_000; x += x > 20_000 && x < 40_000 ? 1234 : 1) series.push(x, Math.sin(x / 99) * x);
    const [width, first, count] = [190.3, 7, 300];
    const { min, max } = series.buckets(width, first, count);
    for (let bucket = 0; bucket < count; bucket++) {
      const [start, end] = [0, 1].map((next) => series.indexOf((first + bucket + next) * width)) as [number, number];
      expect([min[bucket], max[bucket]]).toEqual(plainRange(series, start, end));
    }
  });

  test('what is drawn of a curve that grows, restarts and is zoomed is what is drawn of it at once', () => {
    const anew = (series: Series) => {
      const copy = new Series();
      for (let i = 0; i < series.length; i++) copy.push(series.x(i), series.y(i));
      return copy;
    };
    const series = new Series();
    const value = (step: number) => Math.sin(step / 7) * (step % 101);
    const drawn = (from = 0, to = series.x(series.length - 1)) =>
      expect(align([series], from, to, 200)).toEqual(align([anew(series)], from, to, 200));
    for (let step = 0; step < 3000; step++) {
      series.push(step / 3, value(step));
      if (step > 900 && step % 97 === 0) drawn();
    }
    // A restart far back, others within the last bucket and at its edge.
    for (const [back, points] of [
      [1200, 700],
      [1, 3],
      [4, 9],
    ] as const) {
      const start = series.x(series.length - 1) - back / 3;
      for (let n = 0; n < points; n++) series.push(start + n / 3, value(n) * 3);
      drawn();
    }
    drawn(100, 400);
    series.push(350, 9999);
    drawn(100, 400);
    drawn(100, 380);
    drawn(100, 500);
    drawn();
  });

  test('no points: no extent', () => {
    expect(extent([new Series()])).toBeNull();
    expect(extent([Series.from([3, 9], [0, 0]), Series.from([1], [0])])).toEqual([1, 9]);
  });
});
