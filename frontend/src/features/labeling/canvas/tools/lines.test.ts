import { describe, expect, it } from 'vitest';
import type { AnnotationObject } from '../model';
import { bench, object } from '../testing';

const polygon = (id: string, ...rings: number[][]): AnnotationObject => object(id, { kind: 'polygon', parts: [rings] });

describe('polygon tool', () => {
  it('draws by clicks and finishes on Enter', () => {
    const hand = bench('polygon');
    for (const at of [
      [10, 10],
      [60.5, 10],
      [60, 70.25],
    ] as const)
      hand.click(at);
    expect(hand.key('Enter')).toBe(true);
    expect(hand.last()).toMatchObject({ kind: 'polygon', parts: [[[10, 10, 60.5, 10, 60, 70.25]]] });
  });

  it('finishes on the first point, and on a double click without a point of its own', () => {
    const hand = bench('polygon');
    for (const at of [
      [10, 10],
      [60, 10],
      [60, 60],
      [13, 12],
    ] as const)
      hand.click(at);
    expect(hand.last()).toMatchObject({ parts: [[[10, 10, 60, 10, 60, 60]]] });
    for (const at of [
      [210, 10],
      [260, 10],
      [260, 60],
    ] as const)
      hand.click(at);
    hand.click([260, 60], { presses: 2 });
    expect(hand.last()).toMatchObject({ parts: [[[210, 10, 260, 10, 260, 60]]] });
    expect(hand.objects()).toHaveLength(2);
  });

  it('takes points back with Backspace and everything with Escape', () => {
    const hand = bench('polygon');
    for (const at of [
      [10, 10],
      [60, 10],
      [99, 99],
    ] as const)
      hand.click(at);
    expect(hand.key('Backspace')).toBe(true);
    hand.click([60, 60]);
    hand.key('Enter');
    expect(hand.last()).toMatchObject({ parts: [[[10, 10, 60, 10, 60, 60]]] });
    hand.click([300, 300]);
    expect(hand.key('Escape')).toBe(true);
    expect(hand.key('Enter')).toBe(false);
    expect(hand.objects()).toHaveLength(1);
  });

  it('draws freehand while the button is held', () => {
    const hand = bench('polygon');
    hand.drag([10, 10], [14, 10], [30, 10], [50, 10], [50, 40], [10, 40]);
    hand.key('Enter');
    expect(hand.last()).toMatchObject({ parts: [[[10, 10, 30, 10, 50, 10, 50, 40, 10, 40]]] });
  });

  it('refuses a border that crosses itself, shows where, and keeps the rest', () => {
    const hand = bench('polygon');
    for (const at of [
      [0, 0],
      [100, 100],
      [100, 0],
      [0, 100],
    ] as const)
      hand.click(at);
    expect(hand.notices).toEqual([{ code: 'crossing', at: [50, 50] }]);
    hand.click([50, 20]);
    // Closing it would cross the first side.
    hand.key('Enter');
    expect(hand.last()).toMatchObject({ parts: [[[0, 0, 100, 100, 100, 0, 50, 20]]] });
  });

  it('refuses two points', () => {
    const hand = bench('polygon');
    hand.click([0, 0]);
    hand.click([100, 100]);
    hand.key('Enter');
    expect(hand.notices).toEqual([{ code: 'tooFewPoints', at: [0, 0] }]);
    expect(hand.objects()).toEqual([]);
  });

  it('snaps to the vertices and edges of neighbours, with Ctrl not', () => {
    const hand = bench('polygon', [object('n', { kind: 'box', box: [100, 100, 50, 50] })]);
    hand.click([97, 96]);
    hand.click([125, 98]);
    hand.click([146, 97], { ctrl: true });
    hand.click([120, 40]);
    hand.key('Enter');
    expect(hand.last()).toMatchObject({ parts: [[[100, 100, 125, 100, 146, 97, 120, 40]]] });
  });
});

describe('polyline tool', () => {
  it('draws two points or more, and may cross itself', () => {
    const hand = bench('polyline');
    for (const at of [
      [0, 0],
      [100, 100],
      [100, 0],
      [0, 100],
    ] as const)
      hand.click(at);
    hand.key('Enter');
    expect(hand.last()).toMatchObject({ kind: 'polyline', points: [0, 0, 100, 100, 100, 0, 0, 100] });
  });
});

describe('hole tool', () => {
  it('cuts a hole out of the polygon around it', () => {
    const hand = bench('hole', [polygon('p', [0, 0, 90, 0, 90, 90, 0, 90])]);
    for (const at of [
      [30, 30],
      [60, 30],
      [60, 60],
      [30, 60],
    ] as const)
      hand.click(at);
    hand.key('Enter');
    expect(hand.last()).toMatchObject({
      parts: [[[0, 0, 90, 0, 90, 90, 0, 90], expect.arrayContaining([30, 60])]],
    });
    expect(hand.session.pick([45, 45])).toBeNull();
    hand.session.dispatch({ type: 'undo' });
    expect(hand.session.pick([45, 45])?.object.id).toBe('p');
  });

  it('says when there is nothing to cut, and when the ring lies beside it', () => {
    const nothing = bench('hole');
    nothing.click([30, 30]);
    expect(nothing.notices).toEqual([{ code: 'nothingToCut' }]);
    const beside = bench('hole', [polygon('p', [0, 0, 90, 0, 90, 90, 0, 90])]);
    for (const at of [
      [300, 300],
      [330, 300],
      [330, 330],
    ] as const)
      beside.click(at);
    beside.key('Enter');
    expect(beside.notices).toEqual([{ code: 'holeOutside', at: [300, 300] }]);
  });
});

describe('split tool', () => {
  it('divides a polygon along the line', () => {
    const hand = bench('split', [polygon('p', [10, 0, 90, 0, 90, 90, 10, 90])]);
    hand.click([40, -20], { ctrl: true });
    hand.click([40, 120], { ctrl: true });
    hand.key('Enter');
    expect(hand.objects()).toHaveLength(2);
    const widths = hand.objects().map((piece) => {
      const xs = (piece as unknown as { parts: number[][][] }).parts.flat(2).filter((_, index) => index % 2 === 0);
      return [Math.min(...xs), Math.max(...xs)];
    });
    expect(widths).toEqual([
      [40, 90],
      [10, 40],
    ]);
    hand.session.dispatch({ type: 'undo' });
    expect(hand.objects()).toEqual([polygon('p', [10, 0, 90, 0, 90, 90, 10, 90])]);
  });

  it('says when the line does not run through', () => {
    const hand = bench('split', [polygon('p', [10, 0, 90, 0, 90, 90, 10, 90])]);
    hand.click([40, 30], { ctrl: true });
    hand.click([40, 120], { ctrl: true });
    hand.key('Enter');
    expect(hand.notices).toEqual([{ code: 'notDivided', at: [40, 30] }]);
    expect(hand.objects()).toHaveLength(1);
  });
});

describe('merging by key', () => {
  it('joins the selected polygons, and asks for two', () => {
    const hand = bench('select', [
      polygon('p', [0, 0, 10, 0, 10, 10, 0, 10]),
      polygon('q', [10, 0, 20, 0, 20, 10, 10, 10]),
    ]);
    hand.session.dispatch({ type: 'select', ids: ['p'] });
    hand.key('m');
    expect(hand.notices).toEqual([{ code: 'mergeTwo' }]);
    hand.key('a', { ctrlKey: true });
    hand.key('m');
    expect(hand.objects()).toHaveLength(1);
    expect(hand.last()).toMatchObject({ id: 'p' });
  });
});
