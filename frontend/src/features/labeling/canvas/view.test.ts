import { describe, expect, it } from 'vitest';
import type { Point } from './model';
import { random } from './testing';
import {
  blitOf,
  fitRect,
  fit as fitted,
  matrixOf,
  panBy,
  pictureRect,
  toPicture,
  toScreen,
  type View,
  zoomAt,
} from './view';

const near = (a: Point, b: Point, tolerance = 1e-9) => {
  expect(Math.abs(a[0] - b[0])).toBeLessThanOrEqual(tolerance);
  expect(Math.abs(a[1] - b[1])).toBeLessThanOrEqual(tolerance);
};

describe('view', () => {
  it('goes to the screen and back within 1e-9 pixels', () => {
    const next = random(1);
    for (let round = 0; round < 2000; round++) {
      const view: View = {
        scale: 2 ** (next() * 12 - 6),
        x: next() * 4000 - 2000,
        y: next() * 4000 - 2000,
        rotation: round % 3 === 0 ? 0 : round % 3 === 1 ? 90 * (round % 4) : next() * 360,
      };
      const point: Point = [next() * 10000, next() * 10000];
      near(toPicture(view, toScreen(view, point)), point, 1e-9 * Math.max(1, 1 / view.scale));
    }
  });

  it('turns by quarters exactly', () => {
    expect(toScreen({ scale: 2, x: 10, y: 20, rotation: 90 }, [3, 4])).toEqual([2, 26]);
    expect(toPicture({ scale: 2, x: 10, y: 20, rotation: 90 }, [2, 26])).toEqual([3, 4]);
  });

  it('keeps the place below the cursor while it zooms', () => {
    const view: View = { scale: 0.37, x: -12.5, y: 91, rotation: 30 };
    const at: Point = [321, 123];
    near(toPicture(zoomAt(view, at, 1.7), at), toPicture(view, at), 1e-9);
  });

  it('stops zooming at its limits', () => {
    const far = zoomAt({ scale: 1, x: 0, y: 0 }, [0, 0], 1e9);
    expect(far.scale).toBe(128);
    expect(zoomAt(far, [50, 50], 2)).toEqual(far);
  });

  it('fits a picture into the middle of its window', () => {
    const view = fitted({ width: 200, height: 100 }, { width: 232, height: 432 });
    expect(view).toEqual({ scale: 1, x: 16, y: 166 });
    near(toScreen(fitRect([10, 10, 4, 4], { width: 100, height: 80 }), [12, 12]), [50, 40]);
    const turned = fitted({ width: 200, height: 100 }, { width: 132, height: 232 }, 16, 90);
    expect(turned.scale).toBe(1);
    near(toScreen(turned, [100, 50]), [66, 116]);
  });

  it('pans, and knows what of the picture is seen', () => {
    const view = panBy({ scale: 2, x: 0, y: 0 }, -20, 10);
    expect(view).toEqual({ scale: 2, x: -20, y: 10 });
    expect(pictureRect(view, [0, 0, 100, 50])).toEqual([10, -5, 50, 25]);
  });

  it('blits what was painted to where the other view shows it', () => {
    const from: View = { scale: 1.5, x: 12, y: -7, rotation: 10 };
    const to: View = { scale: 2.25, x: 40, y: 3, rotation: 55 };
    const ratio = 2;
    const [a, b, c, d, e, f] = blitOf(from, to, ratio);
    const [sx, sy] = toScreen(from, [17, 29]);
    const [tx, ty] = toScreen(to, [17, 29]);
    near([a * sx * ratio + c * sy * ratio + e, b * sx * ratio + d * sy * ratio + f], [tx * ratio, ty * ratio]);
    const m = matrixOf(to, ratio);
    near([m[0] * 17 + m[2] * 29 + m[4], m[1] * 17 + m[3] * 29 + m[5]], [tx * ratio, ty * ratio]);
  });
});
