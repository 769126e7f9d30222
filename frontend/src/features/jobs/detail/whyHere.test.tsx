import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { KeptDecision } from '@/api/contract/jobs';
import { expectNoViolations } from '@/test/axe';
import { EXAMPLE, reason, unknownTime } from '@/test/places';
import { renderPage } from '@/test/render';
import '../words';
import { WhyHere } from './WhyHere';

const nothing = { start_s: null, queue_s: null, data_s: null, image_s: null, run_s: null, cost: null };
const placement: KeptDecision = {
  decided_at: '2026-01-01T12:00:00',
  chosen: 'b',
  by: 'auto',
  why: reason('b has 83 % of the data and is 17.21 EUR cheaper than a.'),
  assumptions: [reason('Failures cost 0.')],
  candidates: [...EXAMPLE],
  assumed: {
    start_s: { known: true, p50_s: 240, p90_s: 400, basis: reason('14 similar runs') },
    run_s: unknownTime,
    queue_s: 0,
    data_s: 136,
    image_s: 60,
    cost: '36.32',
    currency: 'EUR',
  },
  came: { start_s: 540, queue_s: 2, data_s: 400, image_s: 138, run_s: 7200, cost: '38.10' },
};

const rowsOf = (name: string) =>
  within(screen.getByRole('table', { name }))
    .getAllByRole('row')
    .slice(1)
    .map((row) => [...row.children].map(({ textContent }) => textContent));

test('the estimates stand beside what came', async () => {
  const { container } = await renderPage(<WhyHere placement={placement} isActive={false} />);
  screen.getByText('Atom chose b');
  screen.getByText('b has 83 % of the data and is 17.21 EUR cheaper than a.');
  screen.getByText('Start assumed at 12:04, was at 12:09.');
  screen.getByText('14 similar runs');
  expect(rowsOf('Estimates and what came')).toEqual([
    ['Until the start', '4m 00s to 6m 40s', '9m 00s'],
    ['Wait for room', 'at once', '2.0s'],
    ['Data', '2m 16s', '6m 40s'],
    ['Image', '1m 00s', '2m 18s'],
    ['Run time', 'unknown', '2h 00m'],
    ['Price', '36.32 EUR', '38.10 EUR'],
  ]);
  await expectNoViolations(container);
});

test('the places stand in their order, those that never take the run with their reason', async () => {
  await renderPage(<WhyHere placement={placement} isActive={false} />);
  const rows = rowsOf('Places that were compared');
  expect(rows.map((row) => row.slice(1))).toEqual([
    ['3m 16s to 6m 40s', '83%', '36.32 EUR', '97.95 EUR'],
    ['14m 20s', '0%', '48.00 EUR', '115.17 EUR'],
    ['never'],
  ]);
  expect(rows[0]?.[0]).toMatch(/^bchosen17.21 EUR cheaper, 11m 04s sooner than a/);
  expect(rows[2]?.[0]).toBe('Atom’s own machinesNo machine is large enough.');
});

test('places stand beside the one that a person chose', async () => {
  const [b, a] = EXAMPLE.map((place) => ({ ...place }));
  Object.assign(b ?? {}, { cheaper_than_chosen: '17.21', later_than_chosen_s: -664 });
  Object.assign(a ?? {}, { cheaper_than_chosen: '0.00', later_than_chosen_s: 0 });
  const candidates = [b, a] as KeptDecision['candidates'];
  await renderPage(<WhyHere placement={{ ...placement, by: 'person', chosen: 'a', candidates }} isActive={false} />);
  screen.getByText('A person chose a');
  const rows = rowsOf('Places that were compared');
  expect(rows[0]?.[0]).toMatch(/^b17.21 EUR cheaper, 11m 04s sooner than a/);
  expect(rows[1]?.[0]).toMatch(/^achosen17.21 EUR dearer, 11m 04s later than b/);
});

test('a run that goes on has no times yet, one that ended has none', async () => {
  const { unmount } = await renderPage(<WhyHere placement={{ ...placement, by: 'person', came: nothing }} isActive />);
  screen.getByText('A person chose b');
  screen.getByText('Start assumed at 12:04.');
  expect(screen.getAllByText('not yet')).toHaveLength(6);
  unmount();
  await renderPage(<WhyHere placement={{ ...placement, came: nothing }} isActive={false} />);
  expect(screen.queryByText('not yet')).toBeNull();
  expect(rowsOf('Estimates and what came')[5]).toEqual(['Price', '36.32 EUR', 'unknown']);
});

test('a run that no place takes has its places, and no estimates', async () => {
  const nowhere = EXAMPLE.filter(({ rank }) => rank === null);
  const waiting = { ...placement, chosen: null, why: null, assumed: null, came: nothing, candidates: nowhere };
  await renderPage(<WhyHere placement={waiting} isActive />);
  screen.getByText('No place takes this run');
  screen.getByText('No machine is large enough.');
  expect(screen.queryByRole('table', { name: 'Estimates and what came' })).toBeNull();
});
