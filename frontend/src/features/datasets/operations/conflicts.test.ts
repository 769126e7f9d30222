import { expect, test } from 'vitest';
import { attributeSides } from './conflicts';

test('each attribute that differs has both sides, or none where one does not have it', () => {
  expect(attributeSides('{"camera": "A", "box": [1, 2]}', '{"camera": "B", "iso": null}')).toEqual([
    { name: 'box', ours: '[1,2]', theirs: undefined },
    { name: 'camera', ours: 'A', theirs: 'B' },
    { name: 'iso', ours: undefined, theirs: 'null' },
  ]);
  expect(attributeSides('', '{"a": "1"}')).toEqual([{ name: 'a', ours: undefined, theirs: '1' }]);
});
