import { useEffect, useReducer } from 'react';
import type { AuditSlot } from '@/api/contract/labeling';
import { readStored, writeStored } from '@/shared/ui/stored';
import { auditReducer, type KeptMarks, marksOf, openAudit } from './audit';

function read(key: string): KeptMarks {
  try {
    return JSON.parse(readStored(key) ?? '{}') as KeptMarks;
  } catch {
    return {};
  }
}

/** A batch under audit. Marks outlive the page: after a reload nothing is accepted that was to go back. */
export function useAuditBatch(person: string, taskId: string, slots: readonly AuditSlot[]) {
  const key = `atom-audit/${person}/${taskId}`;
  const [state, dispatch] = useReducer(auditReducer, null, () => openAudit(slots, read(key)));
  useEffect(() => {
    writeStored(key, state.returns.size > 0 ? JSON.stringify(marksOf(state)) : null);
  }, [key, state]);
  return { state, dispatch, forget: () => writeStored(key, null) };
}
