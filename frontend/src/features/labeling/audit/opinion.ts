import { useState } from 'react';
import type { AuditDecision, AuditSlot } from '@/api/contract/labeling';
import { readStored, writeStored } from '@/shared/ui/stored';
import type { DocumentV2 } from '../canvas/model';
import type { ErrorCode } from './audit';

/** An auditor's thoughts about one revision, before the verdict. */
export interface Opinion {
  code: ErrorCode;
  comment: string;
  issues: { object: string | null; text: string }[];
  /** The document as the auditor corrects it, with the steps of undo; null where nothing is corrected. */
  corrected: { document: DocumentV2; history: unknown } | null;
}

const BLANK: Opinion = { code: 'wrong_label', comment: '', issues: [], corrected: null };

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

/** The decision to send: a correction is accepted with its document, remarks go with a return. */
export function decisionOf(
  { slot_id, lease_no, revision_id }: AuditSlot,
  verdict: 'accept' | 'return',
  opinion: Opinion,
  corrected: DocumentV2 | null,
): AuditDecision {
  const base = { slot: slot_id, lease_no, revision: revision_id };
  if (verdict === 'accept') return { ...base, verdict, ...(corrected && { document: { ...corrected } }) };
  return { ...base, verdict, error_code: opinion.code, comment: opinion.comment, issues: opinion.issues };
}
