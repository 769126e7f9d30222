import { expect, it } from 'vitest';
import { topUnit } from './topUnit';

const unit = (id: string, parent: string | null) => ({ id, parent });

it('is the unit above all others, where there is one', () => {
  expect(topUnit([unit('lab', null), unit('vision', 'lab')])).toBe('lab');
  expect(topUnit([unit('vision', 'somebody-elses'), unit('cells', 'vision')])).toBe('vision');
  expect(topUnit([unit('vision', 'x'), unit('speech', 'x')])).toBeUndefined();
  expect(topUnit([])).toBeUndefined();
});
