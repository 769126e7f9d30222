import axe from 'axe-core';
import { expect } from 'vitest';

/** Colour contrast needs a real browser; everything else is checked here. */
export async function expectNoViolations(container: Element): Promise<void> {
  const options = { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } };
  const { violations } = await axe.run(container, options);
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
}
