import { expect, test } from 'vitest';
import { FITTED, moved, zoomed } from './view';

test('what the pointer is on stays under it', () => {
  const view = zoomed(FITTED, 2, 100, -50);
  // A point of the picture at (100, -50) from its middle is now at twice that from the new middle.
  expect([view.x + 100 * 2, view.y - 50 * 2]).toEqual([100, -50]);
  expect(zoomed(view, 0.5, 7, 7)).toEqual(FITTED);
});

test('zooming has ends', () => {
  expect(zoomed(FITTED, 0.1)).toEqual(FITTED);
  expect(zoomed(FITTED, 1000).scale).toBe(40);
});

test('a picture cannot be moved out of its frame, and one that fits not at all', () => {
  expect(moved(FITTED, 50, 50, 400, 300)).toEqual(FITTED);
  expect(moved({ scale: 3, x: 0, y: 0 }, 1000, -10, 400, 300)).toEqual({ scale: 3, x: 400, y: -10 });
});
