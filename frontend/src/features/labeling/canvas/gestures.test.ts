import { describe, expect, it } from 'vitest';
import { Gestures, type RawPointer } from './gestures';
import type { Point } from './model';
import { bench } from './testing';
import { toPicture } from './view';

function hands(tool: 'box' | 'select' = 'box') {
  const hand = bench(tool);
  const gestures = new Gestures(hand.session);
  const raw = (screen: Point, more: Partial<RawPointer> = {}): RawPointer => ({
    id: 1,
    screen,
    kind: 'mouse',
    button: 0,
    shift: false,
    ctrl: false,
    alt: false,
    time: 0,
    ...more,
  });
  return { hand, gestures, raw };
}

describe('gestures', () => {
  it.each([
    ['Space', true, 0],
    ['the middle button', false, 1],
  ])('pan with %s', (_, pans, button) => {
    const { hand, gestures, raw } = hands();
    gestures.pans = pans;
    gestures.down(raw([100, 100], { button }));
    gestures.move(raw([130, 90], { button }));
    gestures.up(raw([130, 90], { button }));
    expect(hand.session.view).toEqual({ scale: 1, x: 30, y: -10 });
    expect(hand.objects()).toEqual([]);
  });

  it('zoom with the wheel at the cursor', () => {
    const { hand, gestures } = hands();
    const before = toPicture(hand.session.view, [400, 300]);
    gestures.wheel([400, 300], -240, false);
    expect(hand.session.view.scale).toBeGreaterThan(1.3);
    const after = toPicture(hand.session.view, [400, 300]);
    expect(Math.hypot(after[0] - before[0], after[1] - before[1])).toBeLessThan(1e-9);
  });

  it('draw with one finger; a second one gives that up, pans and zooms', () => {
    const { hand, gestures, raw } = hands();
    const finger = (id: number, screen: Point) => raw(screen, { id, kind: 'touch' });
    gestures.down(finger(1, [100, 100]));
    gestures.move(finger(1, [150, 150]));
    gestures.down(finger(2, [300, 150]));
    gestures.move(finger(2, [450, 150]));
    gestures.up(finger(2, [450, 150]));
    gestures.up(finger(1, [150, 150]));
    expect(hand.objects()).toEqual([]);
    expect(hand.session.view.scale).toBeCloseTo(2, 9);
    const fixed = toPicture(hand.session.view, [300, 150]);
    expect(fixed[0]).toBeCloseTo(225, 9);
    gestures.down(finger(1, [100, 100]));
    gestures.move(finger(1, [200, 200]));
    gestures.up(finger(1, [200, 200]));
    expect(hand.objects()).toHaveLength(1);
  });

  it('take a finger for a resting hand after a pen has written', () => {
    const { hand, gestures, raw } = hands();
    gestures.down(raw([100, 100], { kind: 'pen', id: 7, time: 1000 }));
    gestures.move(raw([200, 200], { kind: 'pen', id: 7 }));
    gestures.up(raw([200, 200], { kind: 'pen', id: 7 }));
    expect(hand.objects()).toHaveLength(1);
    gestures.down(raw([300, 300], { kind: 'touch', id: 8, time: 2000 }));
    gestures.move(raw([400, 400], { kind: 'touch', id: 8 }));
    gestures.up(raw([400, 400], { kind: 'touch', id: 8 }));
    expect(hand.objects()).toHaveLength(1);
    expect(hand.session.view).toEqual({ scale: 1, x: 100, y: 100 });
  });

  it('give up what a lost pointer was drawing', () => {
    const { hand, gestures, raw } = hands();
    gestures.down(raw([100, 100]));
    gestures.move(raw([150, 150]));
    gestures.lost(1);
    gestures.down(raw([300, 300], { time: 5000 }));
    gestures.move(raw([320, 340]));
    gestures.up(raw([320, 340]));
    expect(hand.objects()).toMatchObject([{ box: [300, 300, 20, 40] }]);
  });

  it('count double clicks by time and place', () => {
    const { hand, gestures, raw } = hands('select');
    const presses: number[] = [];
    hand.session.tool.pointerDown = (pointer) => presses.push(pointer.presses);
    for (const [at, time] of [
      [10, 0],
      [11, 200],
      [11, 300],
      [11, 900],
      [60, 1000],
    ] as const) {
      gestures.down(raw([at, 10], { time }));
      gestures.up(raw([at, 10], { time }));
    }
    expect(presses).toEqual([1, 2, 1, 1, 1]);
  });
});
