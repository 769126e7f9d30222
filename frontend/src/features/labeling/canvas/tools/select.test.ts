import { describe, expect, it } from 'vitest';
import type { AnnotationObject } from '../model';
import { rleOfRuns } from '../rle';
import { bench, object } from '../testing';

const box = (id: string, x: number, y: number, size = 100): AnnotationObject =>
  object(id, { kind: 'box', box: [x, y, size, size] });

describe('select tool', () => {
  it('selects by click, adds with Shift and Ctrl, and lets go beside everything', () => {
    const hand = bench('select', [box('a', 0, 0), box('b', 200, 0)]);
    hand.click([50, 50]);
    expect(hand.session.editor.selected).toEqual(['a']);
    hand.click([250, 50], { shift: true });
    expect(hand.session.editor.selected).toEqual(['a', 'b']);
    hand.click([50, 50], { ctrl: true });
    expect(hand.session.editor.selected).toEqual(['b']);
    hand.click([500, 500]);
    expect(hand.session.editor.selected).toEqual([]);
  });

  it('goes deeper with each Alt click', () => {
    const hand = bench('select', [box('large', 0, 0, 300), box('middle', 50, 50, 200), box('small', 100, 100, 100)]);
    const picked = [1, 2, 3, 4].map(() => {
      hand.click([150, 150], { alt: true });
      return hand.session.editor.selected.join();
    });
    expect(picked).toEqual(['small', 'middle', 'large', 'small']);
  });

  it('selects what a rectangle encloses', () => {
    const hand = bench('select', [box('a', 10, 10), box('b', 150, 10), box('c', 600, 10)]);
    hand.drag([1, 1], [300, 300]);
    expect(hand.session.editor.selected).toEqual(['a', 'b']);
  });

  it('moves by a drag in one step of the history, exactly', () => {
    const hand = bench('select', [box('a', 10.1, 10)]);
    hand.drag([50, 50], [60, 60], [70.5, 45.25]);
    expect(hand.last()).toMatchObject({ box: [10.1 + 20.5, 5.25, 100, 100] });
    expect(hand.session.editor.past).toHaveLength(1);
    hand.key('z', { ctrlKey: true });
    expect(hand.last()).toMatchObject({ box: [10.1, 10, 100, 100] });
  });

  it('moves all that are selected, and nothing out of the picture', () => {
    const hand = bench('select', [box('a', 10, 10), box('b', 200, 10)]);
    hand.key('a', { ctrlKey: true });
    hand.drag([250, 50], [-500, 50]);
    expect(hand.objects()).toMatchObject([{ box: [0, 10, 100, 100] }, { box: [190, 10, 100, 100] }]);
  });

  it('gives up a drag on Escape', () => {
    const hand = bench('select', [box('a', 10, 10)]);
    hand.down([50, 50]);
    hand.move([90, 90]);
    expect(hand.session.tool.editing()).toEqual(['a']);
    expect(hand.key('Escape')).toBe(true);
    hand.up([90, 90]);
    expect(hand.last()).toMatchObject({ box: [10, 10, 100, 100] });
  });

  it.each([
    ['a corner', [110, 110], [150.5, 130], [10, 10, 140.5, 120]],
    ['the upper side', [60, 10], [90, 30], [10, 30, 100, 80]],
    ['a corner over the opposite one', [110, 110], [0, 0], [0, 0, 10, 10]],
  ] as const)('resizes a box by %s', (_, from, to, result) => {
    const hand = bench('select', [box('a', 10, 10)]);
    hand.click([60, 60]);
    hand.drag(from, to);
    expect(hand.last()).toMatchObject({ box: result });
  });

  it('keeps the ratio with Shift', () => {
    const hand = bench('select', [object('a', { kind: 'box', box: [0, 0, 100, 50] })]);
    hand.click([50, 25]);
    hand.down([100, 50]);
    hand.move([200, 60], { shift: true });
    hand.up([200, 60], { shift: true });
    expect(hand.last()).toMatchObject({ box: [0, 0, 200, 100] });
  });

  it('turns a rotated box by its handle, and resizes it along its own sides', () => {
    const hand = bench('select', [object('a', { kind: 'rotated_box', box: [200, 200, 100, 40], angle: 0 })]);
    hand.click([200, 200]);
    hand.drag([200, 156], [300, 200]);
    expect(hand.last()).toMatchObject({ box: [200, 200, 100, 40], angle: 90 });
    // Its right side now looks down.
    hand.drag([200, 250], [200, 290]);
    const { box } = hand.last() as unknown as { box: number[] };
    [200, 220, 140, 40].forEach((value, index) => {
      expect(box[index]).toBeCloseTo(value, 9);
    });
  });

  it('moves, inserts and removes vertices', () => {
    const hand = bench('select', [object('p', { kind: 'polygon', parts: [[[0, 0, 100, 0, 100, 100, 0, 100]]] })]);
    hand.click([50, 50]);
    hand.drag([100, 100], [130, 120]);
    expect(hand.last()).toMatchObject({ parts: [[[0, 0, 100, 0, 130, 120, 0, 100]]] });
    hand.down([50, 0], { presses: 2 });
    expect(hand.last()).toMatchObject({ parts: [[[0, 0, 50, 0, 100, 0, 130, 120, 0, 100]]] });
    hand.down([100, 0], { alt: true });
    expect(hand.last()).toMatchObject({ parts: [[[0, 0, 50, 0, 130, 120, 0, 100]]] });
    hand.click([50, 0]);
    hand.key('Delete');
    expect(hand.last()).toMatchObject({ parts: [[[0, 0, 130, 120, 0, 100]]] });
    hand.key('Delete');
    expect(hand.objects()).toEqual([]);
  });

  it('puts a vertex back that makes the border cross itself, and shows where', () => {
    const hand = bench('select', [object('p', { kind: 'polygon', parts: [[[0, 0, 100, 0, 100, 100, 0, 100]]] })]);
    hand.click([50, 50]);
    hand.drag([100, 0], [-0, 50], [20, 150]);
    expect(hand.notices).toEqual([{ code: 'crossing', at: expect.any(Array) }]);
    expect(hand.last()).toMatchObject({ parts: [[[0, 0, 100, 0, 100, 100, 0, 100]]] });
  });

  it('leaves what is locked and does not see what is hidden', () => {
    const hand = bench('select', [box('a', 10, 10)]);
    hand.click([60, 60]);
    hand.key('l');
    hand.drag([60, 60], [90, 90]);
    expect(hand.last()).toMatchObject({ box: [10, 10, 100, 100] });
    hand.key('h');
    hand.click([60, 60]);
    expect(hand.session.editor.selected).toEqual([]);
    hand.key('H', { shiftKey: true });
    hand.click([60, 60]);
    expect(hand.session.editor.selected).toEqual(['a']);
  });

  it('moves a mask by whole pixels', () => {
    const rle = rleOfRuns([[800 * 10 + 20, 800 * 10 + 40]], 800, 1000);
    const hand = bench('select', [object('m', { kind: 'mask', rle })]);
    hand.drag([10.5, 30], [15.9, 33.2]);
    const moved = rleOfRuns([[800 * 15 + 23, 800 * 15 + 43]], 800, 1000);
    expect(hand.last()).toMatchObject({ rle: moved });
  });
});

describe('keys', () => {
  it('nudge by a pixel, with Shift by ten', () => {
    const hand = bench('select', [box('a', 10, 10)]);
    expect(hand.key('ArrowRight')).toBe(false);
    hand.click([60, 60]);
    hand.key('ArrowRight');
    hand.key('ArrowUp', { shiftKey: true });
    expect(hand.last()).toMatchObject({ box: [11, 0, 100, 100] });
  });

  it('go from object to object with Tab, and on to the page behind the last', () => {
    const hand = bench('select', [box('a', 10, 10), box('b', 200, 10)]);
    const steps = [1, 2, 3].map(() => [hand.key('Tab'), hand.session.editor.selected.join()]);
    expect(steps).toEqual([
      [true, 'a'],
      [true, 'b'],
      [false, ''],
    ]);
  });

  it('copy, paste, duplicate and delete', () => {
    const hand = bench('select', [box('a', 10, 10)]);
    hand.click([60, 60]);
    hand.key('d', { ctrlKey: true });
    expect(hand.last()).toMatchObject({ box: [22, 22, 100, 100] });
    hand.key('c', { ctrlKey: true });
    hand.key('v', { ctrlKey: true });
    expect(hand.last()).toMatchObject({ box: [34, 34, 100, 100] });
    expect(new Set(hand.objects().map(({ id }) => id)).size).toBe(3);
    hand.key('Delete');
    expect(hand.objects()).toHaveLength(2);
    hand.key('z', { ctrlKey: true });
    hand.key('z', { ctrlKey: true, shiftKey: true });
    expect(hand.objects()).toHaveLength(2);
  });

  it('choose tools and the brush', () => {
    const hand = bench('polygon');
    hand.key('Escape');
    expect(hand.session.tool.name).toBe('select');
    hand.key('n');
    expect(hand.session.tool.name).toBe('polygon');
    hand.key('x');
    expect(hand.session.tool.name).toBe('brush');
    expect(hand.session.brush).toEqual({ radius: 10, erases: true });
    hand.key(']');
    expect(hand.session.brush.radius).toBe(11.5);
    hand.key('[');
    expect(hand.session.brush.radius).toBeCloseTo(10, 9);
    expect(hand.key('Enter')).toBe(false);
  });

  it('change the order', () => {
    const hand = bench('select', [box('a', 10, 10), box('b', 200, 10), box('c', 400, 10)]);
    hand.click([60, 60]);
    hand.key('PageUp');
    expect(hand.objects().map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    hand.key('PageDown', { shiftKey: true });
    expect(hand.objects().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });
});
