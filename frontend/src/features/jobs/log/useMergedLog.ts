import { useEffect, useState } from 'react';
import { readMergedLog } from '../queries';

/** The page keeps the newest lines; the log of one rank has all of its own. */
export const MOST_LINES = 5_000;
const POLL_MS = 2_000;

export interface MergedLine {
  key: number;
  rank: number;
  stream: string;
  text: string;
}

interface Read {
  lines: MergedLine[];
  /** Whether older lines are not shown. */
  left: boolean;
  eof: boolean;
  error: unknown;
}

const NOTHING: Read = { lines: [], left: false, eof: false, error: undefined };

/** Lines of all ranks of an attempt, read on until all logs have ended. */
export function useMergedLog(run: string, attempt: number | undefined, active: boolean) {
  const [read, setRead] = useState<Read>(NOTHING);
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a try more reads anew
  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    setRead(NOTHING);
    void follow(run, attempt, stop.signal, setRead);
    return () => stop.abort();
  }, [run, attempt, active, tries]);
  return { ...read, retry: () => setTries((count) => count + 1) };
}

type SetRead = (change: (old: Read) => Read) => void;

async function follow(run: string, attempt: number | undefined, signal: AbortSignal, setRead: SetRead) {
  let after = '';
  let count = 0;
  while (!signal.aborted) {
    try {
      const page = await readMergedLog(run, attempt, after, signal);
      if (signal.aborted || !page) return;
      const first = count;
      count += page.lines.length;
      const added = page.lines.map((line, index) => ({ ...line, key: first + index }));
      after = page.next || after;
      setRead((old) => {
        const all = added.length > 0 ? [...old.lines, ...added] : old.lines;
        const lines = all.length > MOST_LINES ? all.slice(-MOST_LINES) : all;
        return { lines, left: old.left || lines.length < all.length, eof: page.eof, error: undefined };
      });
      if (page.eof) return;
      if (added.length === 0) await pause(signal);
    } catch (error) {
      if (!signal.aborted) setRead((old) => ({ ...old, error }));
      return;
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, POLL_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
