import type { PlacementCandidate, PlacementDecision } from '@/api/contract/jobs';
import type { ChoiceReason } from '@/api/schema';

/** A sentence of the server whose code the portal translates by nothing but its English. */
export const reason = (sentence: string, code = 'test.sentence'): ChoiceReason => ({ code, sentence, params: {} });

const GB = 10 ** 9;
const roomNow = { known: true, p50_s: 0, p90_s: 0, basis: reason('There is room now.') };
export const unknownTime = { known: false, p50_s: null, p90_s: null, basis: reason('Unknown: too few runs.') };

/** A place with room for a run that reads no data and asks for no GPUs. */
export function place(name: string, rank: number | null, extra: Partial<PlacementCandidate> = {}): PlacementCandidate {
  return {
    name,
    kind: name === 'local' ? 'local' : 'kubernetes',
    state: 'ready',
    fits: rank === null ? 'never' : 'now',
    reason: null,
    rank,
    coverage: 1,
    start: roomNow,
    ways: [],
    parts: { queue: roomNow, data_s: 0, image_s: 0 },
    run: unknownTime,
    data: [],
    price: { per_hour: null, total: '0.00', currency: '' },
    cost: {
      compute: '0.00',
      egress: '0.00',
      time: '1.00',
      eviction: '0.00',
      failure: '0.00',
      total: '1.00',
      currency: '',
    },
    cheaper_than_chosen: rank === null ? null : '0.00',
    later_than_chosen_s: rank === null ? null : 0,
    accelerators: [],
    preempted_by: [],
    ...extra,
  };
}

/** The decision over places; the first of them is its choice. */
export function decision(...candidates: PlacementCandidate[]): PlacementDecision {
  const chosen = candidates[0]?.rank === 1 ? candidates[0].name : null;
  return { chosen, why: chosen ? reason(`${chosen} is best.`) : null, assumptions: [], candidates };
}

const input = (there: number, fetched: number, egress: string) => ({
  alias: 'd',
  dataset: 'digits',
  ref: 'v1',
  bytes_total: 800 * GB,
  bytes_there: there * GB,
  bytes_moving: 0,
  bytes_to_fetch: fetched * GB,
  store: 'atom',
  egress_cost: egress,
  currency: 'EUR',
});
const time = (seconds: number) => ({
  known: true,
  p50_s: seconds,
  p90_s: seconds,
  basis: reason('There is room now.'),
});
const cost = (compute: string, egress: string, hours: string, total: string) => ({
  ...{ compute, egress, time: hours, eviction: '0.00', failure: '0.00', total, currency: 'EUR' },
});

/** The worked example of docs/placement.md: `b` has 83 % of the data, `a` has none. */
export const EXAMPLE = [
  place('b', 1, {
    coverage: 0.83,
    start: { ...time(196), p90_s: 400 },
    parts: { queue: roomNow, data_s: 136, image_s: 60 },
    data: [input(664, 136, '2.72')],
    price: { per_hour: '16.80', total: '36.32', currency: 'EUR' },
    cost: cost('33.60', '2.72', '61.63', '97.95'),
    preempted_by: ['urgent', 'research'],
  }),
  place('a', 2, {
    coverage: 0,
    start: time(860),
    parts: { queue: roomNow, data_s: 800, image_s: 60 },
    data: [input(0, 800, '16.00')],
    price: { per_hour: '16.00', total: '48.00', currency: 'EUR' },
    cost: cost('32.00', '16.00', '67.17', '115.17'),
    cheaper_than_chosen: '-17.21',
    later_than_chosen_s: 664,
  }),
  place('local', null, {
    reason: reason('No machine is large enough.'),
    start: null,
    parts: null,
    price: null,
    cost: null,
  }),
] as const;
