import { describe, expect, it, vi } from 'vitest';
import type { ValueWindow } from '../deepTile';
import { Gestures, type RawPointer } from '../gestures';
import type { Point } from '../model';
import { bench } from '../testing';
import { draggedWindow, shownValues } from '../valueWindow';

const DEEP = { bits: 16, low: 1000, high: 5096 };

function viewer() {
  const values = vi.fn<(window: ValueWindow | null) => void>();
  const hand = bench('window', [], { values });
  hand.session.values = shownValues(DEEP, null);
  return { hand, values };
}

describe('the window of values', () => {
  it('is the whole range of a deep picture at first, and none of another one', () => {
    expect(shownValues(DEEP, null)?.window).toEqual({ centre: 3048, width: 4096 });
    expect(shownValues({ ...DEEP, bits: 8 }, null)).toBeNull();
    expect(shownValues(null, { centre: 1, width: 1 })).toBeNull();
  });

  it('stays inside of the range', () => {
    const shown = { low: 1000, high: 5096, window: { centre: 3048, width: 2048 } };
    expect(draggedWindow(shown, 9999, 9999)).toEqual({ centre: 5096, width: 4096 });
    expect(draggedWindow(shown, -9999, -9999)).toEqual({ centre: 1000, width: 1 });
  });
});

describe('the window tool', () => {
  it('widens to the right and raises the centre downwards, each step from where the drag began', () => {
    const { hand, values } = viewer();
    hand.drag([200, 200], [150, 190], [100, 264]);
    // 512 pixels of the screen are the whole range of 4096 values.
    expect(values.mock.calls).toEqual([[{ centre: 2968, width: 3696 }], [{ centre: 3560, width: 3296 }]]);
    hand.move([500, 500]);
    expect(values).toHaveBeenCalledTimes(2);
    hand.drag([200, 200], [210, 200]);
    expect(values).toHaveBeenLastCalledWith({ centre: 3560, width: 3376 });
    expect(hand.documents).toEqual([]);
  });

  it('shows the whole range on a double click', () => {
    const { hand, values } = viewer();
    hand.drag([200, 200], [100, 100]);
    hand.down([100, 100], { presses: 2 });
    hand.up([100, 100]);
    expect(values).toHaveBeenLastCalledWith(null);
    expect(hand.session.values?.window).toEqual({ centre: 3048, width: 4096 });
  });

  it('goes back to where it was when the drag is given up', () => {
    const { hand, values } = viewer();
    hand.down([200, 200]);
    hand.move([300, 300]);
    expect(hand.session.tool.cancel()).toBe(true);
    expect(values).toHaveBeenLastCalledWith({ centre: 3048, width: 4096 });
    expect(hand.session.tool.cancel()).toBe(false);
  });

  it('works with a finger, and two fingers zoom', () => {
    const { hand, values } = viewer();
    const gestures = new Gestures(hand.session);
    const touch = (id: number, screen: Point): RawPointer => ({
      ...{ id, screen, kind: 'touch', button: 0, shift: false, ctrl: false, alt: false, time: 0 },
    });
    gestures.down(touch(1, [100, 100]));
    gestures.move(touch(1, [90, 100]));
    expect(values).toHaveBeenLastCalledWith({ centre: 3048, width: 4016 });
    gestures.down(touch(2, [300, 100]));
    gestures.move(touch(2, [400, 100]));
    expect(values).toHaveBeenLastCalledWith({ centre: 3048, width: 4096 });
    expect(hand.session.view.scale).toBeGreaterThan(1);
  });

  it('does nothing on a picture of 8 bits', () => {
    const { hand, values } = viewer();
    hand.session.values = null;
    hand.drag([200, 200], [100, 100]);
    expect(values).not.toHaveBeenCalled();
    expect(hand.session.tool.cursor()).toBe('not-allowed');
  });
});
