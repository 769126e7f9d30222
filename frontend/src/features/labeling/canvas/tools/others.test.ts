import { describe, expect, it } from 'vitest';
import { maskArea, maskContains, rleOfRuns } from '../rle';
import { bench, object } from '../testing';
import { boxOnSide } from './boxes';

describe('extreme box tool', () => {
  it('draws the box around four points, in any order', () => {
    const hand = bench('extreme-box');
    for (const at of [
      [50, 10.5],
      [120, 60],
      [20.25, 40],
      [70, 90],
    ] as const)
      hand.click(at);
    expect(hand.last()).toMatchObject({ kind: 'box', box: [20.25, 10.5, 99.75, 79.5] });
  });

  it('takes back the last point', () => {
    const hand = bench('extreme-box');
    for (const at of [
      [50, 10],
      [500, 600],
    ] as const)
      hand.click(at);
    hand.key('Backspace');
    for (const at of [
      [120, 60],
      [20, 40],
      [70, 90],
    ] as const)
      hand.click(at);
    expect(hand.last()).toMatchObject({ box: [20, 10, 100, 80] });
  });
});

describe('rotated box tool', () => {
  it('draws a side and then the height', () => {
    const hand = bench('rotated-box');
    for (const at of [
      [100, 100],
      [200, 100],
      [170, 140],
    ] as const)
      hand.click(at);
    expect(hand.last()).toMatchObject({ kind: 'rotated_box', box: [150, 120, 100, 40], angle: 0 });
  });

  it.each([
    [[0, 0], [0, 100], [-30, 50], [-15, 50, 100, 30], 90],
    [[0, 0], [100, 0], [50, -20], [50, -10, 100, 20], 180],
    [[100, 100], [200, 200], [100, 200], [125, 175, Math.hypot(100, 100), Math.hypot(50, 50)], 45],
  ] as const)('knows the angle of %j → %j', (a, b, c, box, angle) => {
    const shape = boxOnSide(a, b, c);
    expect(shape?.angle).toBeCloseTo(angle, 9);
    box.forEach((value, index) => {
      expect(shape?.box[index]).toBeCloseTo(value, 9);
    });
  });

  it('has no box without a height', () => {
    expect(boxOnSide([0, 0], [10, 0], [5, 0])).toBeNull();
    expect(boxOnSide([0, 0], [0, 0], [5, 5])).toBeNull();
  });
});

describe('point tool', () => {
  it('draws where it is pressed, inside of the picture', () => {
    const hand = bench('point');
    hand.click([12.125, 7.5]);
    hand.click([1200, -3]);
    expect(hand.objects()).toMatchObject([{ points: [12.125, 7.5] }, { points: [1000, 0] }]);
  });
});

describe('keypoints tool', () => {
  it('places the points of the skeleton in order, hidden ones with Shift', () => {
    const hand = bench('keypoints');
    hand.click([10, 20]);
    hand.click([30, 40], { shift: true });
    hand.click([50, 10]);
    expect(hand.last()).toMatchObject({
      kind: 'keypoints',
      points: [10, 20, 2, 30, 40, 1, 50, 10, 2],
      box: [10, 10, 40, 30],
    });
  });

  it('leaves points out with S and Enter, and takes them back with Backspace', () => {
    const hand = bench('keypoints');
    hand.click([10, 20]);
    hand.key('s');
    hand.key('Backspace');
    hand.click([99, 99]);
    hand.key('Backspace');
    hand.key('s');
    hand.click([30, 40]);
    expect(hand.last()).toMatchObject({ points: [10, 20, 2, 0, 0, 0, 30, 40, 2] });
    hand.session.dispatch({ type: 'select', ids: [] });
    hand.click([300, 300]);
    hand.key('Enter');
    expect(hand.last()).toMatchObject({ points: [300, 300, 2, 0, 0, 0, 0, 0, 0] });
    expect('box' in hand.last()).toBe(false);
  });

  it('drags points of the selected object, and a click changes their visibility', () => {
    const hand = bench('keypoints', [object('k', { kind: 'keypoints', points: [10, 20, 2, 30, 40, 1, 0, 0, 0] })]);
    hand.session.dispatch({ type: 'select', ids: ['k'] });
    hand.drag([31, 41], [80, 90]);
    expect(hand.last()).toMatchObject({ points: [10, 20, 2, 80, 90, 1, 0, 0, 0] });
    hand.click([10, 20]);
    expect(hand.last()).toMatchObject({ points: [10, 20, 1, 80, 90, 1, 0, 0, 0] });
    hand.click([10, 20]);
    expect(hand.last()).toMatchObject({ points: [0, 0, 0, 80, 90, 1, 0, 0, 0] });
    hand.click([80, 90]);
    expect(hand.notices).toEqual([{ code: 'tooFewPoints', at: [80, 90] }]);
    expect(hand.last()).toMatchObject({ points: [0, 0, 0, 80, 90, 1, 0, 0, 0] });
  });

  it('asks for a class with a skeleton', () => {
    const hand = bench('keypoints');
    hand.session.activeLabel = 2;
    hand.click([10, 20]);
    expect(hand.notices).toEqual([{ code: 'kindNotAllowed' }]);
  });
});

describe('brush', () => {
  const areaOf = (mask: unknown) => maskArea((mask as { rle: Parameters<typeof maskArea>[0] }).rle);

  it('paints a new mask, and goes on with it while it is selected', () => {
    const hand = bench('brush');
    hand.session.setBrush({ radius: 5 });
    hand.drag([100.5, 100.5], [120.5, 100.5]);
    expect(hand.objects()).toHaveLength(1);
    const { rle } = hand.last() as { rle: Parameters<typeof maskArea>[0] };
    expect(rle.size).toEqual([800, 1000]);
    expect([94, 95, 125, 126].map((x) => maskContains(rle, [x + 0.5, 100.5]))).toEqual([false, true, true, false]);
    const before = areaOf(hand.last());
    hand.drag([110.5, 100.5], [110.5, 150.5]);
    expect(hand.objects()).toHaveLength(1);
    expect(areaOf(hand.last())).toBeGreaterThan(before);
    hand.key('Enter');
    hand.drag([300, 300], [310, 300]);
    expect(hand.objects()).toHaveLength(2);
  });

  it('erases with X and Shift; a stroke is one step', () => {
    const rle = rleOfRuns([[800 * 100, 800 * 200]], 800, 1000);
    const hand = bench('brush', [object('m', { kind: 'mask', rle })]);
    hand.session.setBrush({ radius: 2 });
    hand.down([150, 400], { shift: true });
    hand.move([160, 400]);
    hand.up([160, 400]);
    expect(areaOf(hand.last())).toBeLessThan(80_000);
    expect(hand.session.editor.past).toHaveLength(1);
    hand.key('z', { ctrlKey: true });
    expect(hand.last()).toMatchObject({ rle });
    hand.key('x');
    hand.drag([150, 400], [150, 410]);
    expect(areaOf(hand.last())).toBeLessThan(80_000);
  });

  it('leaves no empty mask behind', () => {
    const rle = rleOfRuns([[800 * 100 + 10, 800 * 100 + 20]], 800, 1000);
    const hand = bench('brush', [object('m', { kind: 'mask', rle })]);
    hand.session.setBrush({ radius: 50, erases: true });
    hand.drag([100, 15], [101, 15]);
    expect(hand.notices).toEqual([{ code: 'emptyMask', at: [101, 15] }]);
    expect(hand.last()).toMatchObject({ rle });
  });

  it('gives up a stroke on Escape', () => {
    const hand = bench('brush');
    hand.down([100, 100]);
    hand.move([200, 100]);
    hand.key('Escape');
    hand.up([200, 100]);
    expect(hand.objects()).toEqual([]);
  });
});

describe('relation tool', () => {
  const car = object('car', { kind: 'box', box: [0, 0, 100, 100] });
  const plate = object('plate', { kind: 'box', box: [200, 0, 50, 20] }, 2);

  it('joins by dragging and by two clicks', () => {
    const hand = bench('relation', [car, plate]);
    hand.drag([220, 10], [50, 50]);
    const [relation] = hand.session.editor.document.relations ?? [];
    expect(relation).toEqual({ id: expect.any(String), relation: 1, from: 'plate', to: 'car' });
    hand.session.dispatch({ type: 'undo' });
    hand.click([220, 10]);
    hand.click([50, 50]);
    expect(hand.session.editor.document.relations).toHaveLength(1);
  });

  it('refuses what the ontology does not allow', () => {
    const hand = bench('relation', [car, plate]);
    hand.drag([50, 50], [220, 10]);
    expect(hand.notices).toEqual([{ code: 'relationNotAllowed', at: [220, 10] }]);
    hand.session.ontology = { labels: hand.session.ontology.labels };
    hand.drag([220, 10], [50, 50]);
    expect(hand.notices.at(-1)).toEqual({ code: 'noRelation' });
    expect(hand.session.editor.document.relations).toBeUndefined();
  });
});

describe('ruler', () => {
  it('measures and changes nothing', () => {
    const hand = bench('ruler');
    hand.drag([0, 0], [30, 40]);
    const texts: string[] = [];
    const nothing = () => {};
    hand.session.tool.paint({
      object: nothing,
      line: nothing,
      handles: nothing,
      circle: nothing,
      mask: nothing,
      text: (_, text) => texts.push(text),
    });
    expect(texts).toEqual(['50.0 px (30.0 × 40.0)']);
    expect(hand.documents).toEqual([]);
    expect(hand.key('Escape')).toBe(true);
  });
});
