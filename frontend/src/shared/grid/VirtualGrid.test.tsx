import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { renderPage } from '@/test/render';
import { connection } from '../live/connection';
import { keepFocus } from '../ui/focusBack';
import { Thumb } from './Thumb';
import { VirtualGrid, type VirtualGridProps } from './VirtualGrid';

const COUNT = 6000;
const cellHeight = () => 100;
const numbers = (start: number, end: number) => Array.from({ length: end - start }, (_, index) => start + index);
const renderCell = (item: number) => <span>image {item}</span>;

/** Six columns, and rows of one page each. */
const open = (props: Partial<VirtualGridProps<number>> = {}) =>
  renderPage(
    <VirtualGrid
      label="Images"
      count={COUNT}
      loadRange={async (start, end) => numbers(start, end)}
      sourceKey="one"
      renderCell={renderCell}
      cellHeight={cellHeight}
      pageSize={6}
      {...props}
    />,
  );

/** Until it is called the second row cannot be read. */
function failing() {
  let isBack = false;
  const loadRange = async (start: number, end: number) => {
    if (start === 6 && !isBack) throw new Error('no');
    return numbers(start, end);
  };
  const comeBack = () => {
    isBack = true;
  };
  return { loadRange, comeBack };
}

async function loseServer() {
  vi.spyOn(globalThis, 'fetch').mockRejectedValueOnce(new TypeError('Failed to fetch'));
  await act(async () => void (await connection.check()));
}

afterEach(() => {
  vi.restoreAllMocks();
  connection.heard();
});

test('a part that could not be read can be tried again, wherever it is', async () => {
  const { loadRange, comeBack } = failing();
  await open({ loadRange });
  await screen.findByText('image 0');
  const retry = await screen.findByRole('button', { name: 'Try again' });
  comeBack();
  await userEvent.click(retry);
  await screen.findByText('image 6');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('what failed while the server was away is read as soon as it is back', async () => {
  const { loadRange, comeBack } = failing();
  await loseServer();
  await open({ loadRange });
  await screen.findByRole('alert');
  comeBack();
  act(() => connection.heard());
  await screen.findByText('image 6');
});

test('the grid has the focus when its cell scrolls away, and keys act on what is seen', async () => {
  const onOpen = vi.fn();
  const pick = vi.fn();
  const picking = { runs: [], pick, pickAll: vi.fn(), clear: vi.fn(), labelOf: (item: number) => `Choose ${item}` };
  await open({ onOpen, picking });
  onTestFinished(keepFocus(document.body));
  const box = await screen.findByRole('checkbox', { name: 'Choose 1' });
  const grid = screen.getByRole('grid', { name: 'Images' });
  act(() => box.focus());
  grid.scrollTop = 5000;
  fireEvent.scroll(grid);
  await waitFor(() => expect(document.activeElement).toBe(grid));
  // Row 50, six to a row.
  await screen.findByText('image 300');
  await userEvent.keyboard(' ');
  expect(pick).toHaveBeenCalledWith(300, false);
  await userEvent.keyboard('{Enter}');
  expect(onOpen).toHaveBeenCalledWith(300, 300);
  await userEvent.keyboard('{ArrowRight}');
  await waitFor(() => expect(document.activeElement?.getAttribute('data-index')).toBe('301'));
});

test('a picture that failed while the server was away is fetched again', async () => {
  await renderPage(<Thumb src="/media/a.png" alt="a cat" />);
  await loseServer();
  fireEvent.error(screen.getByRole('img', { name: 'a cat' }));
  expect(screen.queryByRole('img', { name: 'a cat' })).toBeNull();
  act(() => connection.heard());
  await waitFor(() => expect(screen.getByRole('img', { name: 'a cat' }).getAttribute('src')).toContain('/media/a.png'));
});
