import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import type { MetricValue } from '@/shared/domain/metricValue';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { axesOf, parameterNames, passing, position, readWithin, stretch } from './axes';
import { ComparePage } from './ComparePage';
import { looksOf } from './looks';
import { requirementsOf } from './rows';

const compared = (number: number, parameters: object, accuracy: MetricValue | null) => ({
  id: `run-${number}`,
  number,
  name: `train-${number}`,
  state: 'succeeded',
  workflow: null,
  workflow_version: '',
  created_by: { username: 'bo', full_name: 'Bo Chen' },
  datasets: [],
  resources: { cpus: 2, memory_bytes: 2 ** 32, gpus: 0 },
  node: null,
  duration_s: 10,
  tags: [],
  created_at: '2026-01-01T00:00:00Z',
  parameters,
  command: ['python', 'train.py'],
  runtime: { python: '3.11', requirements: 'torch==2.13.0' },
  code: null,
  env: [],
  timeout_s: null,
  max_retries: 2,
  metrics: [{ key: 'accuracy', n: 2, last: accuracy, last_step: 1, min: 0, max: accuracy }],
});
const RUNS = [
  compared(3, { lr: 0.1, opt: 'adam', seed: 7 }, 0.8),
  compared(4, { lr: 0.001, opt: 'sgd', seed: 7 }, 0.9),
];
const METRICS = [{ key: 'accuracy', goal: 'max', best: ['run-4'] }];
const curve = (number: number) => ({
  run: `run-${number}`,
  number,
  steps: [0, 1],
  values: [0.1, 0.8],
  ts: [0, 1000],
  n: 2,
  downsampled: false,
  coarse: false,
});

function serveRuns() {
  serve('GET', 'projects/{project}/runs/compare/', { runs: RUNS, metrics: METRICS });
  serve('GET', 'projects/{project}/runs/compare/series/', { key: 'accuracy', series: [curve(3), curve(4)] });
}
const open = (query: string) => renderPage(<ComparePage />, `/runs/compare${query}`);

describe('the comparison of runs', () => {
  test('says what differs and which run is best, in words too', async () => {
    serveRuns();
    const { container } = await open('?runs=3,4');
    const row = (await screen.findByRole('rowheader', { name: /^accuracy/ })).closest('tr') as HTMLElement;
    expect(within(row).getByRole('img', { name: 'best' }).closest('td')?.textContent).toContain('0.9');
    expect(screen.getByRole('rowheader', { name: /^lr/ }).textContent).toContain('(differs)');
    expect(screen.getByRole('rowheader', { name: /^seed/ }).textContent).not.toContain('(differs)');
    await expectNoViolations(container);
  });

  test('a curve that ends in NaN is told from one that ends in infinity, and from none', async () => {
    const { metrics: _, ...silent } = compared(6, {}, null);
    const runs = [compared(4, {}, 'NaN'), compared(5, {}, '-Infinity'), { ...silent, metrics: [] }];
    serve('GET', 'projects/{project}/runs/compare/', { runs, metrics: METRICS });
    const ends = { ...curve(4), values: [0.1, 'NaN'] };
    serve('GET', 'projects/{project}/runs/compare/series/', { key: 'accuracy', series: [ends] });
    await open('?runs=4,5,6');
    const row = (await screen.findByRole('rowheader', { name: /^accuracy/ })).closest('tr') as HTMLElement;
    expect(
      within(row)
        .getAllByRole('cell')
        .map(({ textContent }) => textContent),
    ).toEqual(['NaN', '-Infinity', '–']);
    // In the table and in the legend.
    await waitFor(() => expect(screen.getAllByText('NaN')).toHaveLength(2));
    expect(screen.getByText('1 point is NaN (×) or infinite (▲ ▼)')).toBeTruthy();
  });

  test('the first axes are those that most runs have', () => {
    const runs = [compared(3, { only: 1, lr: 0.1 }, 1), compared(4, { lr: 0.2 }, 1)] as never;
    expect(parameterNames(runs).differing).toEqual(['lr', 'only']);
  });

  test('shows only what differs when asked to', async () => {
    serveRuns();
    await open('?runs=3,4&only=true');
    await screen.findByRole('rowheader', { name: /^lr/ });
    expect(screen.queryByRole('rowheader', { name: /^seed/ })).toBeNull();
  });

  test('a filter of the address takes runs out of the table, and can be cleared', async () => {
    serveRuns();
    await open(`?runs=3,4&within=${encodeURIComponent(JSON.stringify({ lr: [0.01, 1] }))}`);
    await screen.findByText('1 of 2 runs');
    const table = screen.getByRole('region', { name: 'Comparison' });
    expect(within(table).queryByRole('link', { name: /train-4/ })).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Clear filters' }));
    await within(table).findByRole('link', { name: /train-4/ });
  });

  test('the fields filter as the brushes do', async () => {
    serveRuns();
    await open('?runs=3,4');
    await userEvent.type(await screen.findByRole('textbox', { name: 'lr from' }), '0.05');
    await screen.findByText('1 of 2 runs');
  });

  test('without runs it lets choose them', async () => {
    serve('GET', 'projects/{project}/runs/', listing());
    await open('');
    await screen.findByText('No runs to compare');
    await userEvent.click(screen.getByRole('button', { name: 'Choose runs to compare' }));
    await screen.findByText('No run matches');
  });

  test('what is no run is named', async () => {
    const errors = { runs: ["'abc': give the numbers or ids of runs."] };
    const body = { status: 400, code: 'not_comparable', title: 'These runs cannot be compared.', errors };
    serve('GET', 'projects/{project}/runs/compare/', () => Response.json(body, { status: 400 }));
    await open('?runs=3,abc');
    await waitFor(() => expect(screen.getByRole('alert').textContent).toContain("'abc': give the numbers"));
  });

  test('a run that is not there is named', async () => {
    serve('GET', 'projects/{project}/runs/compare/', () => problem(404, 'gone', 'The project has no run 9.'));
    await open('?runs=3,9');
    await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('The project has no run 9.'));
  });
});

describe('axes', () => {
  const axes = axesOf(RUNS as never, ['lr', 'opt'], 'accuracy', 'last');
  test('numbers that span two powers of ten are logarithmic, words are in order', () => {
    expect(axes.map((one) => one.isLog)).toEqual([true, false, false]);
    expect(position(axes[0] as never, 0.01)).toBeCloseTo(0.5);
    expect(axes[1]?.categories).toEqual(['adam', 'sgd']);
  });
  test('a stretch of an axis lets its own runs through', () => {
    expect(stretch(axes[0] as never, 0.9, 1)).toEqual([0.0631, 0.1]);
    expect(passing(axes, { lr: [0.0631, 0.1] }, 2)).toEqual([true, false]);
    expect(stretch(axes[1] as never, 0.9, 1)).toEqual(['sgd']);
    expect(passing(axes, { opt: ['sgd'] }, 2)).toEqual([false, true]);
    expect(stretch(axes[1] as never, 0.4, 0.6)).toBeUndefined();
  });
  test('an address with nonsense filters nothing', () => {
    for (const raw of [null, 'x', [], { lr: 1 }, { lr: [1] }, { lr: [1, 'a'] }, { lr: [] }])
      expect(readWithin(raw)).toBeUndefined();
    expect(readWithin({ lr: [1, 2], opt: ['a'] })).toEqual({ lr: [1, 2], opt: ['a'] });
  });
});

test('a run keeps its colour when another goes, and fifty look different', () => {
  const numbers = Array.from({ length: 40 }, (_, i) => i * 7 + 1);
  const looks = looksOf(numbers);
  expect(new Set([...looks.values()].map(({ color, dash }) => `${color}${dash}`)).size).toBe(40);
  expect(looksOf([12, 15, 18]).get(18)).toEqual(looksOf([12, 18]).get(18));
});

test('requirements are compared by package', () => {
  const found = requirementsOf('# ours\nTorch==2.13.0  # pinned\nnumpy>=2\n--index-url x\n');
  expect([...found]).toEqual([
    ['torch', 'Torch==2.13.0'],
    ['numpy', 'numpy>=2'],
    ['--index-url x', '--index-url x'],
  ]);
});
