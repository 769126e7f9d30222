import type { AuditDecision, AuditSlot } from '@/api/contract/labeling';

/** One batch under audit: every image is accepted unless it is marked to go back. Pure. */
export interface AuditState {
  items: readonly AuditSlot[];
  returns: ReadonlyMap<string, Reason>;
  cursor: number;
  selected: ReadonlySet<number>;
}

export interface Reason {
  code: ErrorCode;
  comment: string;
}

/** Marks that a page left behind, by what was looked at: another answer to the same image is looked at anew. */
export type KeptMarks = Readonly<Record<string, Reason>>;

export const ERROR_CODES = ['wrong_label', 'unclear', 'bad_image', 'guideline'] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export type AuditAction =
  | { type: 'open'; items: readonly AuditSlot[] }
  | { type: 'toggle'; indices: readonly number[]; reason: Reason }
  | { type: 'explain'; indices: readonly number[]; reason: Partial<Reason> }
  | { type: 'select'; index: number; add: boolean }
  | { type: 'move'; step: number }
  | { type: 'acceptAll' };

/** Submissions without a class come first. */
const classOf = ({ label_id }: AuditSlot): number => label_id ?? -1;

/** Sorted by class, so that a wrong image stands out among its neighbours. */
export function openAudit(items: readonly AuditSlot[], kept: KeptMarks = {}): AuditState {
  const marks = items.flatMap(({ slot_id, revision_id }): [string, Reason][] => {
    const reason = kept[revision_id];
    return reason ? [[slot_id, reason]] : [];
  });
  const sorted = items.toSorted((a, b) => classOf(a) - classOf(b) || a.path.localeCompare(b.path));
  return { items: sorted, returns: new Map(marks), cursor: 0, selected: new Set() };
}

export function auditTargets(state: AuditState): number[] {
  if (state.items.length === 0) return [];
  return state.selected.size > 0 ? [...state.selected] : [state.cursor];
}

/** Marks images to go back; when all of them are marked already, accepts them again. */
function toggle(state: AuditState, indices: readonly number[], reason: Reason): AuditState {
  const ids = indices.flatMap((index) => state.items[index]?.slot_id ?? []);
  const returns = new Map(state.returns);
  const allMarked = ids.every((id) => returns.has(id));
  for (const id of ids) {
    if (allMarked) returns.delete(id);
    else returns.set(id, returns.get(id) ?? reason);
  }
  return { ...state, returns };
}

function explain(state: AuditState, indices: readonly number[], reason: Partial<Reason>): AuditState {
  const returns = new Map(state.returns);
  for (const index of indices) {
    const id = state.items[index]?.slot_id;
    const known = id === undefined ? undefined : returns.get(id);
    if (id !== undefined && known) returns.set(id, { ...known, ...reason });
  }
  return { ...state, returns };
}

export function auditReducer(state: AuditState, action: AuditAction): AuditState {
  switch (action.type) {
    case 'open':
      return openAudit(action.items);
    case 'toggle':
      return toggle(state, action.indices, action.reason);
    case 'explain':
      return explain(state, action.indices, action.reason);
    case 'select': {
      const selected = new Set(action.add ? state.selected : []);
      if (action.add && !selected.delete(action.index)) selected.add(action.index);
      return { ...state, selected, cursor: action.index };
    }
    case 'move': {
      const cursor = Math.max(0, Math.min(state.items.length - 1, state.cursor + action.step));
      return { ...state, cursor, selected: new Set() };
    }
    case 'acceptAll':
      return { ...state, returns: new Map(), selected: new Set() };
  }
}

export function marksOf({ items, returns }: AuditState): KeptMarks {
  const marks = items.flatMap(({ slot_id, revision_id }): [string, Reason][] => {
    const reason = returns.get(slot_id);
    return reason ? [[revision_id, reason]] : [];
  });
  return Object.fromEntries(marks);
}

export function decisionsOf({ items, returns }: AuditState): AuditDecision[] {
  return items.map((item) => {
    const base = { slot: item.slot_id, lease_no: item.lease_no, revision: item.revision_id };
    const reason = returns.get(item.slot_id);
    if (!reason) return { ...base, verdict: 'accept' };
    return { ...base, verdict: 'return', error_code: reason.code, comment: reason.comment };
  });
}

/** The images by class, in the order shown: `[label, indices]`. */
export function groupsOf({ items }: AuditState): [label: number | null, indices: number[]][] {
  const groups = new Map<number | null, number[]>();
  items.forEach((item, index) => {
    const group = groups.get(item.label_id);
    if (group) group.push(index);
    else groups.set(item.label_id, [index]);
  });
  return [...groups];
}
