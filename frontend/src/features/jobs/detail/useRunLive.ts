import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { keyOf } from '@/api/client';
import type { Run } from '@/api/contract/jobs';
import { useLive } from '@/shared/live/useLive';
import type { LogFeed } from '../log/logFeed';
import type { LogStore } from '../log/logStore';
import { isActive, isWaiting } from '../states';

/** The messages of the server on `/ws/runs/<id>/`. Payloads of curves and events are read by HTTP. */
type Message =
  | {
      type: 'log';
      attempt: string;
      rank?: number;
      byte_off: number;
      next: number;
      text: string;
      fd: 1 | 2;
      ts_ns: number;
    }
  | { type: 'gap'; from: number; to: number }
  | ({ type: 'run' } & Pick<Run, 'state' | 'progress' | 'progress_text'>)
  | { type: 'metrics'; keys: Record<string, number> }
  | { type: 'event'; seq: number }
  | { type: 'file'; id?: string; state: string }
  | { type: 'eof'; attempt: string };

export interface RunLiveOptions {
  run: Run | undefined;
  runId: string;
  attempt: number | undefined;
  /** The rank whose log is followed; 0 where a run has one node. */
  rank: number;
  store: LogStore;
  feed: LogFeed;
  /** Whether the log is on the screen. */
  wantsLog: boolean;
}

function readAgain(client: ReturnType<typeof useQueryClient>, types: Set<Message['type']>): void {
  const again = (path: Parameters<typeof keyOf>[0]) => void client.invalidateQueries({ queryKey: keyOf(path) });
  if (types.has('event')) again('/api/v1/runs/{run_id}/events/');
  if (types.has('metrics')) again('/api/v1/runs/{run_id}/metrics/');
  if (types.has('event') || types.has('eof')) again('/api/v1/runs/{run_id}/');
  if (types.has('eof')) again('/api/v1/runs/{run_id}/files/');
  if (types.has('file') || types.has('eof')) again('/api/v1/runs/{run_id}/files/folder/');
}

export function useRunLive({ run, runId, attempt, rank, store, feed, wantsLog }: RunLiveOptions) {
  const client = useQueryClient();
  const lastRead = useRef(0);
  const pending = useRef(new Set<Message['type']>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  /** Many small messages, one read a second. */
  const schedule = () => {
    if (timer.current !== undefined || pending.current.size === 0) return;
    timer.current = setTimeout(
      () => {
        timer.current = undefined;
        lastRead.current = Date.now();
        readAgain(client, pending.current);
        pending.current = new Set();
      },
      Math.max(0, lastRead.current + 1000 - Date.now()),
    );
  };

  const patchRun = ({ state, progress, progress_text }: Message & { type: 'run' }) => {
    const changed = run?.state !== state;
    // Without its reason a failure says nothing: both are read together, at once.
    if (changed && state === 'failed') return readAgain(client, new Set(['event', 'eof']));
    client.setQueriesData<Run>({ queryKey: keyOf('/api/v1/runs/{run_id}/') }, (old) =>
      old?.id === runId ? { ...old, state, progress, progress_text } : old,
    );
    if (changed) pending.current.add('event').add('eof');
  };

  const attemptId = run?.attempts.find(({ number }) => number === attempt)?.id;
  const onMessages = (batch: Message[]) => {
    for (const message of batch) {
      if (message.type === 'log') {
        // Still on its way when another attempt or rank was chosen.
        if (attemptId !== undefined && message.attempt !== attemptId) continue;
        if ((message.rank ?? 0) !== rank) continue;
        const { byte_off: byteOff, next, text, fd, ts_ns } = message;
        feed.receive({ byteOff, next, text, fd, timeMs: ts_ns / 1e6 });
        // A line is proof that the command runs: the note of its start is on another way, and may be late.
        if (run && isWaiting(run)) pending.current.add('event');
      } else if (message.type === 'gap') feed.poke();
      else if (message.type === 'run') patchRun(message);
      else {
        if (message.type === 'eof') feed.poke();
        pending.current.add(message.type);
      }
    }
    schedule();
  };

  const live = useLive<Message>({
    path: run && isActive(run) ? `/ws/runs/${runId}/` : null,
    params: () => (wantsLog ? { attempt, rank, log_from: store.next } : {}),
    onMessages,
  });
  const { send, status } = live;
  useEffect(() => {
    if (status !== 'live') return;
    send(wantsLog ? { type: 'subscribe_log', attempt, rank, from: store.next } : { type: 'pause_log' });
    // Whatever came while the socket was away.
    if (wantsLog) feed.poke();
  }, [status, wantsLog, attempt, rank, send, store, feed]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return live;
}
