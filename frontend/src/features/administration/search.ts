import { oneOf, type RawSearch, text } from '@/shared/domain/search';

/** A day as `2026-01-31`; anything else is none. */
const day = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined;

export const unitsSearch = (raw: RawSearch) => ({ q: text(raw.q) });
export const peopleSearch = (raw: RawSearch) => ({ q: text(raw.q), state: oneOf('active', 'inactive')(raw.state) });
export const auditLogSearch = (raw: RawSearch) => ({
  actor: text(raw.actor),
  verb: text(raw.verb),
  in: text(raw.in),
  object: text(raw.object),
  from: day(raw.from),
  to: day(raw.to),
});
