import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { expectNoViolations } from '@/test/axe';
import { renderPage } from '@/test/render';
import { EmptyState } from '../ui/EmptyState';
import { type Column, DataTable } from './DataTable';

interface Ship {
  id: string;
  name: string;
  crew: number;
}

const SHIPS: Ship[] = [
  { id: '1', name: 'ship-10', crew: 3 },
  { id: '2', name: 'ship-9', crew: 40 },
];
const COLUMNS: Column<Ship>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => name, sortValue: ({ name }) => name },
  { key: 'crew', header: 'Crew', cell: ({ crew }) => crew, sortValue: ({ crew }) => crew, align: 'right' },
];
const base = {
  label: 'Ships',
  columns: COLUMNS,
  rowKey: ({ id }: Ship) => id,
  rowLink: ({ id }: Ship) => ({ to: '/', hash: id }) as const,
  empty: <EmptyState title="No ships" />,
};
const names = () => screen.getAllByRole('link').map((link) => link.textContent);

test('a press on a header sorts, a second one turns it round; names sort by their numbers', async () => {
  const { container } = await renderPage(<DataTable {...base} rows={SHIPS} />);
  await userEvent.click(screen.getByRole('button', { name: /Name/ }));
  expect(names()).toEqual(['ship-9', 'ship-10']);
  await userEvent.click(screen.getByRole('button', { name: /Name/ }));
  expect(names()).toEqual(['ship-10', 'ship-9']);
  expect(screen.getByRole('columnheader', { name: /Name/ }).getAttribute('aria-sort')).toBe('descending');
  await expectNoViolations(container);
});

test('arrow keys walk the rows', async () => {
  await renderPage(<DataTable {...base} rows={SHIPS} />);
  screen.getByRole('link', { name: 'ship-10' }).focus();
  await userEvent.keyboard('{ArrowDown}');
  expect(document.activeElement?.textContent).toBe('ship-9');
  await userEvent.keyboard('{ArrowUp}');
  expect(document.activeElement?.textContent).toBe('ship-10');
});

test('rows can be selected, one or all', async () => {
  const onSelect = vi.fn();
  await renderPage(
    <DataTable {...base} rows={SHIPS} rowName={({ name }) => name} selected={new Set()} onSelect={onSelect} />,
  );
  await userEvent.click(screen.getByRole('checkbox', { name: /ship-9/ }));
  expect(onSelect).toHaveBeenLastCalledWith(new Set(['2']));
  await userEvent.click(screen.getByRole('checkbox', { name: 'All' }));
  expect(onSelect).toHaveBeenLastCalledWith(new Set(['1', '2']));
});

test('no rows: the empty state; still loading: a busy table', async () => {
  const { unmount } = await renderPage(<DataTable {...base} rows={[]} />);
  expect(screen.getByText('No ships')).toBeTruthy();
  unmount();
  await renderPage(<DataTable {...base} rows={undefined} />);
  expect(screen.getByRole('table', { name: 'Ships' }).getAttribute('aria-busy')).toBe('true');
});

test('an empty page is not the end as long as there is another one', async () => {
  const loadMore = vi.fn();
  await renderPage(<DataTable {...base} rows={[]} hasMore loadMore={loadMore} />);
  expect(screen.queryByText('No ships')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Load more' }));
  expect(loadMore).toHaveBeenCalled();
});

test('a failed first page says why and can be tried again', async () => {
  const refetch = vi.fn();
  const error = new ApiError({ status: 500, code: 'index_lost', title: 'The index is lost', requestId: 'r-77' });
  await renderPage(<DataTable {...base} rows={undefined} error={error} refetch={refetch} />);
  const alert = screen.getByRole('alert');
  expect(alert.textContent).toContain('The index is lost');
  expect(alert.textContent).toContain('r-77');
  await userEvent.click(within(alert).getByRole('button', { name: 'Try again' }));
  expect(refetch).toHaveBeenCalledOnce();
});
