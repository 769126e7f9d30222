import { expect, test } from 'vitest';
import type { AuditSlot } from '@/api/contract/labeling';
import { type AuditAction, auditReducer, auditTargets, decisionsOf, groupsOf, openAudit } from './audit';

const slot = (n: number, label: number): AuditSlot => ({
  item_id: `i${n}`,
  slot_id: `s${n}`,
  lease_no: n,
  expires_at: '',
  path: `${n}.png`,
  digest: '',
  width: null,
  height: null,
  media_url: '',
  tiled: false,
  thumb_url: '',
  document: { label_id: label },
  before: null,
  pre_label_edits: null,
  issues: [],
  label_id: label,
  labeler: 'bo',
  revision_id: `r${n}`,
});
const batch = [slot(1, 5), slot(2, 3), slot(3, 5)];
const wrong = { code: 'wrong_label', comment: '' } as const;
const play = (...actions: AuditAction[]) => actions.reduce(auditReducer, openAudit(batch));

test('images stand together by class', () => {
  expect(groupsOf(openAudit(batch))).toEqual([
    [3, [0]],
    [5, [1, 2]],
  ]);
});

test('everything is accepted unless it is marked', () => {
  const state = play({ type: 'toggle', indices: [1], reason: { code: 'wrong_label', comment: 'a 7' } });
  expect(decisionsOf(state)).toEqual([
    { slot: 's2', lease_no: 2, revision: 'r2', verdict: 'accept' },
    { slot: 's1', lease_no: 1, revision: 'r1', verdict: 'return', error_code: 'wrong_label', comment: 'a 7' },
    { slot: 's3', lease_no: 3, revision: 'r3', verdict: 'accept' },
  ]);
});

test('marking a mixed selection marks the rest, marking again accepts all', () => {
  const once = play(
    { type: 'toggle', indices: [0], reason: wrong },
    { type: 'toggle', indices: [0, 1], reason: wrong },
  );
  expect(once.returns.size).toBe(2);
  expect(auditReducer(once, { type: 'toggle', indices: [0, 1], reason: wrong }).returns.size).toBe(0);
});

test('a comment goes to what is marked, and only there', () => {
  const state = play(
    { type: 'toggle', indices: [0], reason: wrong },
    { type: 'explain', indices: [0, 1], reason: { comment: 'see page 2' } },
  );
  expect([...state.returns]).toEqual([['s2', { code: 'wrong_label', comment: 'see page 2' }]]);
});

test('without a selection the image under the cursor is meant', () => {
  expect(auditTargets(play({ type: 'move', step: 9 }))).toEqual([2]);
  expect(auditTargets(play({ type: 'select', index: 0, add: true }, { type: 'select', index: 1, add: true }))).toEqual([
    0, 1,
  ]);
});
