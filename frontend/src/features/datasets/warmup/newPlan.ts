import type { NewWarmPlan, NewWarmSchedule, WarmChoice } from '@/api/contract/datasets';

const MEGABYTE = 1e6;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RATE = /^\d{1,9}(?:\.\d{1,3})?$/;
const MAX_HOURS = 8760;
const MAX_DAYS = 366;

/** How long the version stays needed: not at all, some days if there is room, or until a person releases it. */
export const STAYS = ['free', 'days', 'pinned'] as const;
export type Stay = (typeof STAYS)[number];

export interface PlanForm {
  cluster: string;
  where: 'copies' | 'nodes';
  copies: string;
  nodes: string[];
  /** Megabytes a second; empty: no limit. */
  rate: string;
  /** Until the plan has to be done; empty: no limit. */
  hours: string;
  stays: Stay;
  /** Days for which it stays, with `days`; counted from the start of the plan. */
  days: string;
  /** Plans of a higher priority read the store first. */
  priority: string;
  when: 'now' | 'times';
  /** Five fields of cron; read in `timezone`. */
  cron: string;
  timezone: string;
}

export const PRIORITIES = { low: '20', normal: '50', high: '80' } as const;
export const CRONS = ['0 * * * *', '0 3 * * *', '0 3 * * 1'] as const;

/** The form's names of the fields that the server calls otherwise. */
export const FIELD_NAMES = {
  rate_bytes_s: 'rate',
  deadline: 'hours',
  deadline_s: 'hours',
  keep_until: 'days',
  keep_s: 'days',
};

export const canTake = (choice: WarmChoice) => choice.nodes.some(isUsable);
export const isUsable = (node: WarmChoice['nodes'][number]) => node.is_reporting && !node.is_read_only;

export function emptyForm(choices: WarmChoice[]): PlanForm {
  const cluster = (choices.find(canTake) ?? choices[0])?.cluster ?? '';
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    cluster,
    where: 'copies',
    copies: '1',
    nodes: [],
    rate: '',
    hours: '',
    stays: 'free',
    days: '7',
    priority: '50',
    when: 'now',
    cron: '0 3 * * *',
    timezone,
  };
}

export const isRate = (text: string) => text.trim() === '' || (RATE.test(text.trim()) && Number(text) > 0);

export function isHours(text: string): boolean {
  const hours = Number(text.trim());
  return text.trim() === '' || (hours > 0 && hours <= MAX_HOURS);
}

export function isDays(text: string): boolean {
  const days = Number(text.trim());
  return text.trim() !== '' && days >= 0.01 && days <= MAX_DAYS;
}

export function isCopies(text: string, most: number): boolean {
  const count = Number(text.trim());
  return text.trim() !== '' && Number.isInteger(count) && count >= 1 && count <= most;
}

/** Where a version goes, and how fast. */
function placeOf({ cluster, where, copies, nodes, rate, priority }: PlanForm) {
  return {
    cluster,
    ...(where === 'nodes' ? { nodes } : { copies: Number(copies) }),
    ...(rate.trim() && { rate_bytes_s: Math.max(1, Math.round(Number(rate) * MEGABYTE)) }),
    ...(priority !== '50' && { priority: Number(priority) }),
  };
}

/** The request of a form whose values are right; `nowMs` is what its hours count from. */
export function planOf(form: PlanForm, nowMs: number): NewWarmPlan {
  const { hours, stays, days } = form;
  const after = (ms: number) => new Date(nowMs + ms).toISOString();
  const deadline = hours.trim() && { deadline: after(Number(hours) * HOUR_MS) };
  const keep = stays === 'days' && { keep_until: after(Number(days) * DAY_MS) };
  return { ...placeOf(form), ...deadline, ...keep, pinned: stays === 'pinned' };
}

/** The request of a schedule that warms the newest version of a branch. */
export function scheduleOf(form: PlanForm, ref: string): NewWarmSchedule {
  const { hours, stays, days, cron, timezone } = form;
  const deadline = hours.trim() && { deadline_s: Math.max(60, Math.round((Number(hours) * HOUR_MS) / 1000)) };
  const keep = stays === 'days' && { keep_s: Math.round((Number(days) * DAY_MS) / 1000) };
  return { ref, ...placeOf(form), ...deadline, ...keep, cron: cron.trim(), timezone };
}

/** The bytes that the chosen nodes lack: what the plan fetches at most. */
export function missingBytes(choice: WarmChoice, names: string[]): number {
  const chosen = choice.nodes.filter(({ node }) => names.includes(node));
  return chosen.reduce((total, { bytes_total: all, bytes_present: here }) => total + all - here, 0);
}
