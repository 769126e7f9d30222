import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { PreLabelEdits } from '@/api/contract/labeling';
import { PreLabelLine } from './PreLabelLine';

const show = (edits: PreLabelEdits | null) =>
  render(
    <MantineProvider>
      <PreLabelLine edits={edits} />
    </MantineProvider>,
  );

test('the line counts changed labels of the pre-label, and added ones apart', () => {
  show({ kept: 9, reshaped: 1, relabelled: 1, added: 4, removed: 1 });
  expect(screen.getByText(/pre-label/i).textContent).toBe('Changed 3 of 12 pre-labels · 4 labels added');
});

test('no added label is no part of the line', () => {
  show({ kept: 1, reshaped: 0, relabelled: 0, added: 0, removed: 0 });
  expect(screen.getByText(/pre-label/i).textContent).toBe('Changed 0 of 1 pre-label');
});

test('work without a pre-label shows a dash', () => {
  show(null);
  expect(screen.getByText(/pre-label/i).textContent).toBe('Pre-labels: –');
});
