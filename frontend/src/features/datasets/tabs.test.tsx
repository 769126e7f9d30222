import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { renderPage } from '@/test/render';
import { DatasetHeader } from './DatasetHeader';

test('the header of a dataset leads to its pages and marks the open one', async () => {
  const page = <DatasetHeader name="pets" tab="activity" />;
  const { container } = await renderPage(page, '/datasets/pets/activity', '/datasets/$name/activity');
  await screen.findByRole('heading', { level: 1, name: 'pets' });
  const tabs = within(screen.getByRole('navigation', { name: 'Pages of pets' })).getAllByRole('link');
  const shown = tabs.map((tab) => [tab.textContent, tab.getAttribute('href'), tab.getAttribute('aria-current')]);
  expect(shown).toEqual([
    ['Files', '/datasets/pets', null],
    ['Versions', '/datasets/pets/versions', null],
    ['Branches', '/datasets/pets/refs', null],
    ['Activity', '/datasets/pets/activity', 'page'],
    ['Settings', '/datasets/pets/keeping', null],
  ]);
  expect(document.title).toBe('pets · Activity · Atom');
  await expectNoViolations(container);
});
