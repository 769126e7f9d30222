import { expect, test, vi } from 'vitest';
import { Placing } from './placing';
import { Session } from './session';

function opened() {
  const session = new Session({});
  session.size = { width: 200, height: 200 };
  session.open({ version: 2, width: 100, height: 100 });
  session.fit();
  return { session, placing: new Placing(session) };
}

test('a press names the place of the picture under it, inside of the borders', () => {
  const { session, placing } = opened();
  const onPlace = vi.fn();
  expect(placing.press([100, 100], 0)).toBe(false);
  placing.onPlace = onPlace;
  expect(placing.press([100, 100], 1)).toBe(false);
  expect(placing.press([100, 100], 0)).toBe(true);
  placing.press([-999, 100], 0);
  expect(onPlace.mock.calls).toEqual([[[50, 50]], [[0, 50]]]);
  expect(session.editor.document).toEqual({ version: 2, width: 100, height: 100 });
});

test('Enter names the middle of the view where no mouse is', () => {
  const { placing } = opened();
  const onPlace = vi.fn();
  expect(placing.key('Enter')).toBe(false);
  placing.onPlace = onPlace;
  expect(placing.key('a')).toBe(false);
  expect(placing.key('Enter')).toBe(true);
  expect(onPlace).toHaveBeenCalledWith([50, 50]);
});
