import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo, useState } from 'react';
import type { LogFilter, LogStore } from './logStore';

/** A growing log is searched again at most this often. */
const REFRESH_MS = 1000;

export function useLogSearch(store: LogStore, revision: number, query: string, filter: LogFilter) {
  const [settled] = useDebouncedValue(query, 120);
  const [seen, setSeen] = useState(revision);
  useEffect(() => {
    if (settled === '' || seen === revision) return;
    const timer = setTimeout(() => setSeen(revision), REFRESH_MS);
    return () => clearTimeout(timer);
  }, [settled, seen, revision]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `seen` stands for the store's contents
  const hits = useMemo(() => (settled === '' ? [] : store.search(settled, filter)), [store, settled, filter, seen]);
  return { hits, settled };
}
