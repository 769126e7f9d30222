import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listenForShortcuts, type Shortcut, useShortcuts } from './shortcuts';

function Page({ shortcuts }: { shortcuts: Shortcut[] }) {
  useShortcuts(shortcuts);
  return <input aria-label="field" />;
}

let stop: () => void;
beforeEach(() => {
  stop = listenForShortcuts();
});
afterEach(() => stop());

test('a sequence runs its action, one key alone does not', async () => {
  const run = vi.fn();
  render(<Page shortcuts={[{ keys: 'G D', label: 'Datasets', run }]} />);
  await userEvent.keyboard('d');
  expect(run).not.toHaveBeenCalled();
  await userEvent.keyboard('gd');
  expect(run).toHaveBeenCalledOnce();
});

test('typing in a field triggers nothing but what is meant for fields', async () => {
  const go = vi.fn();
  const palette = vi.fn();
  const shortcuts = [
    { keys: 'G D', label: 'Datasets', run: go },
    { keys: 'mod+K', label: 'Palette', run: palette, inFields: true },
  ];
  const { getByLabelText } = render(<Page shortcuts={shortcuts} />);
  await userEvent.type(getByLabelText('field'), 'gd{Control>}k{/Control}');
  expect(go).not.toHaveBeenCalled();
  expect(palette).toHaveBeenCalledOnce();
});

test('the page that came last takes the key, and gives it back', async () => {
  const [first, second] = [vi.fn(), vi.fn()];
  render(<Page shortcuts={[{ keys: 'X', label: 'first', run: first }]} />);
  const later = render(<Page shortcuts={[{ keys: 'X', label: 'second', run: second }]} />);
  await userEvent.keyboard('x');
  later.unmount();
  await userEvent.keyboard('x');
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1]);
});
