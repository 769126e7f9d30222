import { expect, test } from 'vitest';
import type { DocumentV2, Point } from './model';
import { Session } from './session';
import { object } from './testing';
import { toScreen } from './view';

const DOCUMENT: DocumentV2 = {
  version: 2,
  width: 400,
  height: 200,
  objects: [object('a', { kind: 'box', box: [300, 20, 50, 30] })],
};

function turned(times: number): Session {
  const session = new Session();
  session.size = { width: 800, height: 600 };
  session.open(DOCUMENT);
  for (let turn = 0; turn < times; turn++) session.run({ do: 'turn' });
  return session;
}

test('a shape is picked where it is seen, however the view is turned', () => {
  for (let times = 0; times < 4; times++) {
    const session = turned(times);
    const at: Point = [301, 21];
    const pointer = session.pointerAt(toScreen(session.view, at), {
      kind: 'mouse',
      button: 0,
      shift: false,
      ctrl: false,
      alt: false,
      presses: 1,
    });
    expect(pointer.at[0]).toBeCloseTo(at[0], 9);
    expect(pointer.at[1]).toBeCloseTo(at[1], 9);
    expect(session.pick(pointer.at)?.object.id).toBe('a');
  }
});

test('a turn shows the whole picture and changes no document; four turns come back', () => {
  const session = turned(1);
  expect(session.view.rotation).toBe(90);
  // The upper left corner is at the upper right now.
  expect(toScreen(session.view, [0, 0])[0]).toBeGreaterThan(toScreen(session.view, [0, 200])[0]);
  expect(session.editor.document).toEqual(DOCUMENT);
  for (let turn = 0; turn < 3; turn++) session.run({ do: 'turn' });
  expect(session.view.rotation ?? 0).toBe(0);
});

test('the arrow to the right moves to the right of the screen', () => {
  const session = turned(1);
  session.dispatch({ type: 'select', ids: ['a'] });
  const before = toScreen(session.view, [300, 20]);
  session.run({ do: 'nudge', dx: 1, dy: 0 });
  const [moved] = session.editor.document.objects ?? [];
  const box = (moved as { box: readonly number[] }).box;
  const after = toScreen(session.view, [box[0] as number, box[1] as number]);
  expect(after[0]).toBeGreaterThan(before[0]);
  expect(after[1]).toBeCloseTo(before[1], 9);
});
