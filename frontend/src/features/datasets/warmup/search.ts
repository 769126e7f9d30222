import { oneOf, type RawSearch, text } from '@/shared/domain/search';

export const PLAN_STATES = ['running', 'done', 'failed', 'cancelled'] as const;

/** `plan` is the one whose nodes are shown. */
export const warmPlansSearch = (raw: RawSearch) => ({ state: oneOf(...PLAN_STATES)(raw.state), plan: text(raw.plan) });

export const warmUpSearch = (raw: RawSearch) => ({ ref: text(raw.ref), plan: text(raw.plan) });
