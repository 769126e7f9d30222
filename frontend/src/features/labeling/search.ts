import { flag, number, oneOf, type RawSearch, text } from '@/shared/domain/search';

/** The order of the list of tasks; `urgency` is by priority, then by due date. */
export const ORDERS = ['urgency', 'due', 'created'] as const;

export const tasksSearch = (raw: RawSearch) => ({
  state: text(raw.state),
  q: text(raw.q),
  create: text(raw.create),
  labelled: flag(raw.labelled),
  objects: flag(raw.objects),
  order: oneOf(...ORDERS)(raw.order),
  mine: flag(raw.mine),
});
export const taskSearch = (raw: RawSearch) => ({ tab: text(raw.tab), state: text(raw.state), item: text(raw.item) });
export const workSearch = (raw: RawSearch) => ({ n: number(raw.n), view: text(raw.view), item: text(raw.item) });
export const auditSearch = (raw: RawSearch) => ({ n: number(raw.n), item: text(raw.item) });
