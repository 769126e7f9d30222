import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { renderPage } from '@/test/render';
import { DatasetHeader } from './DatasetHeader';
import { DatasetPartHeader } from './DatasetPartHeader';

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

test('a page that is a part of a tab has its own title, and its tab leads back', async () => {
  const page = <DatasetPartHeader name="pets" tab="versions" title="Compare versions" />;
  const { container } = await renderPage(page, '/datasets/pets/diff', '/datasets/$name/diff');
  await screen.findByRole('heading', { level: 1, name: 'Compare versions' });
  const bar = within(screen.getByRole('navigation', { name: 'Pages of pets' }));
  const marked = bar.getAllByRole('link').filter((tab) => tab.hasAttribute('aria-current'));
  expect(marked.map((tab) => [tab.textContent, tab.getAttribute('aria-current')])).toEqual([['Versions', 'true']]);
  expect(marked[0]?.getAttribute('href')).toBe('/datasets/pets/versions');
  await expectNoViolations(container);
});
