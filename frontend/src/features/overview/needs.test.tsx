import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { OverviewPage } from '.';

const nothing = {
  needs: [],
  runs: { queued: 0, running: 0, failed_24h: 0, mine: [], recent: [] },
  labeling: { open_items: 0, tasks: [] },
  warm_plans: [],
  datasets: [],
  models: [],
};
const need = (code: string, extra: object = {}) => ({
  code,
  level: 'problem',
  id: '1',
  name: 'digits',
  count: 1,
  at: null,
  data: {},
  ...extra,
});

test('each thing that needs somebody has its one next step', async () => {
  const needs = [
    need('run_failed', { data: { failure_class: 'OOM_HOST' } }),
    need('audit', { level: 'todo', count: 12 }),
    need('something_new', { name: 'from a newer server' }),
  ];
  serve('GET', 'projects/vision/overview/', { ...nothing, needs });
  const { container } = await renderPage(<OverviewPage />);
  const why = await screen.findByRole('link', { name: 'See why: digits' });
  expect(why.getAttribute('href')).toBe('/runs/1');
  screen.getByText('12 items of digits to audit');
  screen.getByText('from a newer server');
  await expectNoViolations(container);
});

test('a running warm-up shows its progress and leads to its plan', async () => {
  const running = {
    id: 'p1',
    dataset: 'pets',
    ref: 'v3',
    cluster: 'east',
    created_at: '2026-01-01T00:00:00Z',
    bytes_total: 200,
    bytes_present: 50,
    nodes: 2,
    nodes_done: 0,
  };
  serve('GET', 'projects/vision/overview/', { ...nothing, warm_plans: [running] });
  const { container } = await renderPage(<OverviewPage />);
  const section = within(await screen.findByRole('region', { name: 'Warm-ups now' }));
  const link = section.getByRole('link', { name: /pets@v3/ });
  expect(link.getAttribute('href')).toContain('/warm-plans?plan=p1');
  section.getByText(/0 of 2 nodes in east/);
  expect(section.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25');
  await expectNoViolations(container);
});

test('somebody new is shown the first steps', async () => {
  serve('GET', 'projects/vision/overview/', nothing);
  await renderPage(<OverviewPage />);
  await screen.findByRole('region', { name: 'First steps' });
});
