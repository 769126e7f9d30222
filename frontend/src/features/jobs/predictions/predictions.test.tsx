import { useRouterState } from '@tanstack/react-router';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { PredictionsPage } from '../index';

const row = (n: number, predicted: string) => ({
  path: `eight/${n}.png`,
  true: '8',
  predicted,
  confidence: 0.9,
  entry: null,
  place: null,
});
const page = {
  dataset: 'digits',
  ref: 'v2',
  split: 'test',
  labels: ['5', '8'],
  measured: 40,
  kept: 40,
  total: 2,
  next: null,
};
const PATTERN = '/runs/$runId/predictions';
let asked: URLSearchParams[] = [];

/** Answers like the server: `wrong` leaves out right answers, and every page has one row. */
function servePredictions(rows: ReturnType<typeof row>[]): void {
  serve('GET', 'runs/{run_id}/predictions/', (_request: Request, url: URL) => {
    asked.push(url.searchParams);
    const matching = rows.filter((one) => url.searchParams.get('wrong') !== 'true' || one.predicted !== one.true);
    const at = Number(url.searchParams.get('cursor') ?? 0);
    const next = at + 1 < matching.length ? String(at + 1) : null;
    return { ...page, total: matching.length, results: matching.slice(at, at + 1), next };
  });
}

const Address = () => <output>{useRouterState({ select: ({ location }) => location.href })}</output>;
const shown = (
  <>
    <PredictionsPage />
    <Address />
  </>
);

beforeEach(() => {
  asked = [];
  serve('GET', 'runs/{run_id}/', { id: 'run-1', number: 1, name: 'evaluate', project: 'vision' });
});

test('the address filters the pictures, and a filter changes the address', async () => {
  servePredictions([row(1, '8'), row(2, '5')]);
  const { container } = await renderPage(shown, '/runs/run-1/predictions?true=8', PATTERN);
  await screen.findByText('2 files');
  expect(asked[0]?.get('true')).toBe('8');
  await userEvent.click(screen.getByRole('radio', { name: 'Mistakes' }));
  await screen.findByText('8 taken for 5');
  expect(asked.at(-1)?.get('wrong')).toBe('true');
  await screen.findByText(/predictions\?.*wrong=1/);
  await expectNoViolations(container);
});

test('the mistakes of a detector become a drawing task over their pictures, each once', async () => {
  serve('GET', 'runs/{run_id}/', {
    id: 'run-1',
    number: 1,
    name: 'd',
    project: 'vision',
    workflow: 'evaluate-detector',
  });
  serve('GET', 'runs/{run_id}/predictions/', {
    ...page,
    total: 3,
    results: [row(1, '5'), row(1, '8'), row(2, '5')],
  });
  const car = { id: 0, name: 'car', color: '#0072B2', hotkey: '1', tools: ['box'], attributes: [] };
  serve('GET', 'projects/{project}/labelx/version-classes/', { labels: [car], schema: {}, counts: [], pictures: 2 });
  serve('POST', 'projects/{project}/labelx/tasks/', { id: 't1' });
  await renderPage(shown, '/runs/run-1/predictions', PATTERN);
  await screen.findByText('3 objects and detections · shown: 2 pictures');
  await userEvent.click(screen.getByRole('button', { name: 'Draw on these 2 pictures again' }));
  await waitFor(() => expect(sent.find(({ line }) => line.endsWith('/labelx/tasks/'))).toBeTruthy());
  expect(sent.find(({ line }) => line.endsWith('/labelx/tasks/'))?.body).toMatchObject({
    modality: 'image-objects',
    labels: [{ name: 'car', tools: ['box'] }],
    filter: { labelled: null, paths: ['eight/1.png', 'eight/2.png'] },
  });
});

test('boxes of a detector lie on the tiles: the object dashed, the detection solid, a legend above', async () => {
  const entry = { thumb_url: '/thumb.jpg' };
  const size = { width: 640, height: 480 };
  serve('GET', 'runs/{run_id}/predictions/', {
    ...page,
    total: 3,
    results: [
      { ...row(1, '5'), entry, place: { ...size, kind: 'misplaced', detected: [5, 6, 70, 80], true: [1, 2, 70, 80] } },
      { ...row(2, '5'), entry, place: { ...size, kind: 'missed', detected: null, true: [9, 9, 20, 20] } },
      { ...row(3, '5'), entry },
    ],
  });
  const { container } = await renderPage(shown, '/runs/run-1/predictions', PATTERN);
  await screen.findByText('misplaced');
  screen.getByText('missed');
  const [misplaced, missed, ...others] = container.querySelectorAll('svg[viewBox="0 0 640 480"]');
  const strokes = (svg: Element | undefined) =>
    [...(svg?.querySelectorAll<SVGElement>('[data-stroke]') ?? [])].map(({ dataset }) => dataset.stroke);
  expect([strokes(misplaced), strokes(missed), others]).toEqual([['truth', 'wrong'], ['truth'], []]);
  expect(misplaced?.querySelector('[data-stroke=wrong] rect')?.getAttribute('width')).toBe('70');
  expect(screen.getByRole('list', { name: 'Lines on the pictures' }).children).toHaveLength(3);
  await expectNoViolations(container);
});

test('an older run has no boxes and no legend', async () => {
  servePredictions([row(1, '5')]);
  await renderPage(shown, '/runs/run-1/predictions', PATTERN);
  await screen.findByText('8 taken for 5');
  expect(screen.queryByRole('list', { name: 'Lines on the pictures' })).toBeNull();
});

test('the next page is added to the first one', async () => {
  servePredictions([row(1, '5'), row(2, '5')]);
  await renderPage(shown, '/runs/run-1/predictions', PATTERN);
  await screen.findByText(/eight\/1\.png/);
  await userEvent.click(screen.getByRole('button', { name: 'Load more' }));
  await screen.findByText(/eight\/2\.png/);
  screen.getByText(/eight\/1\.png/);
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Load more' })).toBeNull());
});

test('filters that match nothing say how to see more, and offer no label task', async () => {
  servePredictions([]);
  await renderPage(shown, '/runs/run-1/predictions?wrong=true', PATTERN);
  await screen.findByText('No file matches');
  expect(screen.queryByRole('button', { name: /again/ })).toBeNull();
});

test.each(['1', 'true', '%221%22'])('an address with wrong=%s opens the mistakes only', async (value) => {
  servePredictions([row(1, '8'), row(2, '5')]);
  await renderPage(shown, `/runs/run-1/predictions?wrong=${value}`, PATTERN);
  await screen.findByText('8 taken for 5');
  expect(asked.map((one) => one.get('wrong'))).toEqual(['true']);
  expect(screen.getByRole('radio', { name: 'Mistakes' })).toHaveProperty('checked', true);
  await userEvent.click(screen.getByRole('radio', { name: 'All' }));
  await waitFor(() => expect(asked.at(-1)?.get('wrong')).toBeNull());
  await waitFor(() =>
    expect(document.querySelector('output')?.textContent).toBe('/runs/run-1/predictions?project=vision'),
  );
});
