import { describe, expect, it } from 'vitest';
import { bench } from '../testing';

describe('box tool', () => {
  it('draws by dragging, whichever corner comes first, and selects what it drew', () => {
    const hand = bench('box');
    hand.drag([300.25, 200.5], [250, 100], [100.75, 50.125]);
    expect(hand.objects()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        label: 1,
        kind: 'box',
        box: [100.75, 50.125, 199.5, 150.375],
        attributes: { 4: 1 },
      },
    ]);
    expect(hand.session.editor.selected).toEqual([hand.last().id]);
  });

  it('draws by two clicks', () => {
    const hand = bench('box');
    hand.click([10, 20]);
    hand.click([30, 60]);
    expect(hand.last()).toMatchObject({ box: [10, 20, 20, 40] });
  });

  it('ends at the border of the picture', () => {
    const hand = bench('box');
    hand.drag([900, 700], [1200, 900]);
    expect(hand.last()).toMatchObject({ box: [900, 700, 100, 100] });
  });

  it('forgets the first corner on Escape and Backspace', () => {
    const hand = bench('box');
    hand.click([10, 20]);
    expect(hand.key('Escape')).toBe(true);
    hand.click([100, 100]);
    expect(hand.key('Backspace')).toBe(true);
    expect(hand.objects()).toEqual([]);
    expect(hand.session.tool.name).toBe('box');
  });

  it('waits for another corner while the box has no area', () => {
    const hand = bench('box');
    hand.click([10, 20]);
    hand.click([10, 90]);
    expect(hand.objects()).toEqual([]);
    hand.click([40, 90]);
    expect(hand.last()).toMatchObject({ box: [10, 20, 30, 70] });
  });

  it.each([
    [null, 'noLabel'],
    [3, 'kindNotAllowed'],
  ])('says why label %s draws nothing', (label, code) => {
    const hand = bench('box');
    hand.session.activeLabel = label;
    hand.drag([10, 10], [50, 50]);
    expect(hand.objects()).toEqual([]);
    expect(hand.notices).toEqual([{ code }]);
  });

  it('draws nothing on a picture that is only shown', () => {
    const hand = bench('box');
    hand.session.readOnly = true;
    hand.drag([10, 10], [50, 50]);
    expect(hand.objects()).toEqual([]);
    expect(hand.notices).toEqual([{ code: 'readOnly' }]);
  });
});
