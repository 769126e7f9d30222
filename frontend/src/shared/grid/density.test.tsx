import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { renderPage } from '@/test/render';
import { DataTable } from './DataTable';
import { useDensity, useDensityOfPage } from './density';

function Page() {
  useDensityOfPage();
  const { density, toggle } = useDensity();
  return (
    <>
      <button type="button" onClick={toggle}>
        {density}
      </button>
      <DataTable
        label="rows"
        columns={[{ key: 'name', header: 'Name', cell: (row: { name: string }) => row.name }]}
        rows={[{ name: 'one' }]}
        rowKey={(row) => row.name}
        empty={null}
      />
    </>
  );
}

const spacing = () =>
  screen
    .getByRole('table')
    .style.getPropertyValue('--table-vertical-spacing')
    .match(/[\d.]+/)?.[0];

test('the density is said to the style sheets and to tables, kept, and an old or odd value is comfortable', async () => {
  localStorage.setItem('atom-density', 'normal');
  await renderPage(<Page />);
  const button = await screen.findByRole('button', { name: 'comfortable' });
  const comfortable = spacing();
  await userEvent.click(button);
  expect(document.documentElement.dataset.density).toBe('compact');
  expect(localStorage.getItem('atom-density')).toBe('compact');
  expect(Number(spacing())).toBeLessThan(Number(comfortable));
  await userEvent.click(screen.getByRole('button', { name: 'compact' }));
  expect(document.documentElement.dataset.density).toBe('comfortable');
});
