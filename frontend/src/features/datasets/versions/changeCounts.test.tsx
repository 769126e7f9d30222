import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { renderPage } from '@/test/render';
import { ChangeCounts } from './ChangeCounts';

const NOTHING = { added: 0, removed: 0, changed: 0 };

test.each([
  [{ ...NOTHING, added: 1200, removed: 3, labels_changed: 2 }, '+1,200−3#2'],
  [{ ...NOTHING, labels_changed: 2 }, '#2'],
  [{ ...NOTHING, labels_changed: 0 }, 'unchanged'],
  // Versions from before the count have null.
  [{ ...NOTHING, changed: 4, labels_changed: null }, '~4'],
])('counts of a version say which kind they are of', async (counts, text) => {
  await renderPage(<div data-testid="counts">{<ChangeCounts {...counts} />}</div>, '/', '/');
  expect(screen.getByTestId('counts').textContent).toBe(text);
});
