import { useState } from 'react';
import type { AuditDecision, AuditSlot } from '@/api/contract/labeling';
import { readStored, writeStored } from '@/shared/ui/stored';
import type { DocumentV2 } from '../canvas/model';
import type { ErrorCode } from './audit';

/** A remark about an object, about a place without one, or about the whole picture. */
export interface NewRemark {
  object: string | null;
  at: [number, number] | null;
  text: string;
}

/** An auditor's thoughts about one revision, before the verdict. */
export interface Opinion {
  /** None where a remark says it. */
  code: ErrorCode | null;
  comment: string;
  issues: NewRemark[];
  /** The text and the place of a remark that is not added yet. */
  text: string;
  at: [number, number] | null;
  /** The document as the auditor corrects it, with the steps of undo; null where nothing is corrected. */
  corrected: { document: DocumentV2; history: unknown } | null;
}

const BLANK: Opinion = { code: null, comment: '', issues: [], text: '', at: null, corrected: null };

function read(key: string, revision: string): Opinion {
  try {
    const kept = JSON.parse(readStored(key) ?? 'null') as { revision: string; opinion: Opinion } | null;
    return kept?.revision === revision ? { ...BLANK, ...kept.opinion } : BLANK;
  } catch {
    return BLANK;
  }
}

/** An opinion outlives the page, until the verdict is sent. */
export function useOpinion(person: string, { slot_id, revision_id }: AuditSlot) {
  const key = `atom-opinion/${person}/${slot_id}`;
  const [opinion, setOpinion] = useState(() => read(key, revision_id));
  const change = (part: Partial<Opinion>) =>
    setOpinion((before) => {
      const next = { ...before, ...part };
      writeStored(key, JSON.stringify({ revision: revision_id, opinion: next }));
      return next;
    });
  return { opinion, change, forget: () => writeStored(key, null) };
}

/** The remarks, with the one that was typed and not added. */
export function remarksOf({ issues, text, at }: Opinion, object: string | null): NewRemark[] {
  if (text.trim() === '') return issues;
  return [...issues, { object: at ? null : object, at, text: text.trim() }];
}

/** Whether a person would learn from the opinion why their work comes back. */
export const saysWhy = (opinion: Opinion): boolean =>
  opinion.code !== null || opinion.comment.trim() !== '' || remarksOf(opinion, null).length > 0;

/** The decision to send: a correction is accepted with its document, remarks go with a return. */
export function decisionOf(
  { slot_id, lease_no, revision_id }: AuditSlot,
  verdict: 'accept' | 'return',
  opinion: Opinion,
  corrected: DocumentV2 | null,
  chosen: string | null = null,
): AuditDecision {
  const base = { slot: slot_id, lease_no, revision: revision_id };
  if (verdict === 'accept') return { ...base, verdict, ...(corrected && { document: { ...corrected } }) };
  return {
    ...base,
    verdict,
    error_code: opinion.code ?? '',
    comment: opinion.comment,
    issues: remarksOf(opinion, chosen),
  };
}
