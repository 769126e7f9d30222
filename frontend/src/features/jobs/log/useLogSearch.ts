import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo, useReducer, useRef, useState } from 'react';
import type { LogMatch } from '@/api/contract/jobs';
import { type LogQuery, searchLog } from '../queries';
import type { LogFilter, LogStore } from './logStore';

/** A growing log is searched again at most this often. */
const REFRESH_MS = 1000;
/** More matches than anybody steps through. */
const MAX_PAGES = 10;

export type Find = 'text' | 'regex' | 'errors';

export interface Wanted {
  query: string;
  find: Find;
  matchCase: boolean;
  filter: LogFilter;
  /** The rank of a run on several nodes; 0 if left out. */
  rank?: number;
}

/** The request to the server; null where there is nothing to look for, or the page can look itself. */
export function asked({ query, find, matchCase, filter, rank = 0 }: Wanted, local = true): LogQuery | null {
  if (find === 'text' && local) return null;
  if (find !== 'errors' && query === '') return null;
  const stream = { ...(filter !== 'all' && { stream: filter }), ...(rank > 0 && { rank }) };
  if (find === 'errors') return { errors: '1', ...stream };
  return {
    q: query,
    ...(find === 'regex' && { regex: '1' as const }),
    ...(matchCase && { case: '1' as const }),
    ...stream,
  };
}

interface Remote {
  key: string;
  matches: Map<number, LogMatch>;
  cursor: string;
  settledLines: number;
  complete: boolean;
  error: unknown;
}

const nothingYet = (key: string): Remote => ({
  key,
  matches: new Map(),
  cursor: '',
  settledLines: 0,
  complete: false,
  error: null,
});

/**
 * Matches that the server finds. When the log has grown to `size` it goes on where it stopped, but never breaks off what
 * it is looking for already: a large log takes longer than the next line.
 */
function useRemote(runId: string, attempt: number | undefined, wanted: LogQuery | null, size: number): Remote {
  const key = wanted ? JSON.stringify([runId, attempt, wanted]) : '';
  const [state, setState] = useState<Remote>(() => nothingYet(key));
  const current = state.key === key ? state : nothingYet(key);
  const running = useRef<AbortController | null>(null);
  const readAt = useRef(-1);
  const [rounds, endRound] = useReducer((count: number) => count + 1, 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: nobody waits for the answer to the question before
  useEffect(
    () => () => {
      running.current?.abort();
      running.current = null;
      readAt.current = -1;
    },
    [key],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the question; a round may be the last
  useEffect(() => {
    if (!wanted || running.current || readAt.current === size) return;
    const abort = new AbortController();
    running.current = abort;
    readAt.current = size;
    const read = async () => {
      // Matches in lines that had not ended come again.
      const matches = new Map([...current.matches].filter(([line]) => line < current.settledLines));
      let { cursor, settledLines } = current;
      for (let page = 0; page < MAX_PAGES && matches.size < MAX_PAGES * 1000; page++) {
        const found = await searchLog(runId, attempt, wanted, cursor, abort.signal);
        if (!found || abort.signal.aborted) return;
        for (const match of found.matches) matches.set(match.line - 1, match);
        cursor = found.next;
        settledLines = found.settled_lines;
        setState({ key, matches: new Map(matches), cursor, settledLines, complete: found.complete, error: null });
        if (found.complete) return;
      }
      setState({ key, matches, cursor, settledLines, complete: true, error: null });
    };
    read()
      .catch((error: unknown) => {
        if (!abort.signal.aborted) setState({ ...current, complete: true, error });
      })
      .finally(() => {
        if (running.current !== abort) return;
        running.current = null;
        endRound();
      });
  }, [key, size, rounds]);
  return current;
}

/** The size of a log that is looked at anew while it grows, however fast, at most every `REFRESH_MS`. */
function useSeen(size: number, active: boolean): number {
  const [seen, setSeen] = useState(size);
  const newest = useRef(size);
  newest.current = size;
  const stale = active && seen !== size;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it may have grown again when it is seen
  useEffect(() => {
    if (!stale) return;
    const timer = setTimeout(() => setSeen(newest.current), REFRESH_MS);
    return () => clearTimeout(timer);
  }, [stale, seen]);
  return seen;
}

/** Plain text is found in what the page holds; the rest by the server, which no expression can hang. */
export function useLogSearch(
  { store, runId, attempt }: { store: LogStore; runId: string; attempt: number | undefined },
  wanted: Wanted,
) {
  const [settled] = useDebouncedValue(wanted.query, wanted.find === 'regex' ? 300 : 120);
  const active = settled !== '' || wanted.find === 'errors';
  const seen = useSeen(store.next, active);
  const { filter, matchCase, find } = wanted;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `seen` stands for the store's contents
  const local = useMemo(
    () => (find === 'text' && settled !== '' ? store.search(settled, filter, matchCase) : []),
    [store, settled, filter, matchCase, find, seen],
  );
  const remote = useRemote(runId, attempt, asked({ ...wanted, query: settled }), seen);
  const far = useMemo(() => [...remote.matches.keys()].sort((a, b) => a - b), [remote.matches]);
  return {
    hits: find === 'text' ? local : far,
    matches: remote.matches,
    settled,
    active,
    searching: find !== 'text' && active && !remote.complete,
    error: find === 'text' ? null : remote.error,
  };
}
