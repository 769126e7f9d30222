import { useSyncExternalStore } from 'react';
import { readStored, subscribeStored, writeStored } from '@/shared/stored';

const STORED = 'atom-operations-told';
// Of a failure the server tells for a week.
const MOST = 200;

/** Remembers that this person was told how operations ended, or does not want to be. */
export function markTold(...ids: readonly string[]): void {
  const told = (readStored(STORED) ?? '').split(' ').filter((one) => one && !ids.includes(one));
  writeStored(STORED, [...ids, ...told].slice(0, MOST).join(' '));
}

/** The operations of which this person was told how they ended. */
export function useTold(): ReadonlySet<string> {
  const stored = useSyncExternalStore(subscribeStored, () => readStored(STORED) ?? '');
  return new Set(stored.split(' '));
}
