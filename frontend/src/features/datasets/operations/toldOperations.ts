import { useSyncExternalStore } from 'react';
import { readStored, subscribeStored, writeStored } from '@/shared/stored';

const STORED = 'atom-operations-told';
// Of a failure the server tells for a week.
const MOST = 200;

/** Remembers that this person was told how an operation ended, or does not want to be. */
export function markTold(id: string): void {
  const told = (readStored(STORED) ?? '').split(' ').filter((one) => one && one !== id);
  writeStored(STORED, [id, ...told].slice(0, MOST).join(' '));
}

/** The operations of which this person was told how they ended. */
export function useTold(): ReadonlySet<string> {
  const stored = useSyncExternalStore(subscribeStored, () => readStored(STORED) ?? '');
  return new Set(stored.split(' '));
}
