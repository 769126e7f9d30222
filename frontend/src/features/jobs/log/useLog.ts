import { useEffect, useReducer, useRef } from 'react';
import { readLog } from '../queries';
import type { Fd } from './lineBlock';
import { LogFeed, type LogPage } from './logFeed';
import { type LogFrame, LogStore } from './logStore';

/** stderr is marked by the frame's own `fd`, or by a stream name such as `0/stderr`. */
const fdOf = (frame: { fd?: number; stream?: string }): Fd =>
  frame.fd === 2 || frame.stream?.endsWith('stderr') ? 2 : 1;

/** A part of a log as the server answers it. */
export interface ReadLog {
  frames: { fd?: number; stream?: string; byte_off: number; ts_ns: number; text: string }[];
  next: number;
  eof: boolean;
}

/** A frame ends where the next one begins; the last one of a page ends at the page's `next`. */
export function toPage(read: ReadLog): LogPage {
  const frames = read.frames.map(
    (frame, index): LogFrame => ({
      fd: fdOf(frame),
      byteOff: frame.byte_off,
      next: read.frames[index + 1]?.byte_off ?? read.next,
      timeMs: frame.ts_ns / 1e6,
      text: frame.text,
    }),
  );
  return { frames, next: read.next, eof: read.eof };
}

export interface OpenLog {
  key: string;
  store: LogStore;
  feed: LogFeed;
}

/** Reads a part of a log from a byte offset on; undefined where nothing was answered. */
export type ReadPart = (from: number, signal: AbortSignal) => Promise<ReadLog | undefined>;

/** The log of a rank of one attempt. It is kept while the run's page is open, so that changing tabs reads nothing twice. */
export const useLog = (runId: string, attempt: number | undefined, rank: number, active: boolean) =>
  useLogOf(
    `${runId}/${attempt ?? 'latest'}/${rank}`,
    (from, signal) => readLog(runId, attempt, from, signal, rank),
    active,
  );

/** A log that `read` reads, a new one for each `key`. */
export function useLogOf(key: string, read: ReadPart, active: boolean, pollMs?: number) {
  const [revision, redraw] = useReducer((count: number) => count + 1, 0);
  const opened = useRef<OpenLog | null>(null);
  const frame = useRef(0);
  if (opened.current?.key !== key) {
    opened.current?.feed.stop();
    const store = new LogStore();
    const onChange = () => {
      if (frame.current !== 0) return;
      frame.current = requestAnimationFrame(() => {
        frame.current = 0;
        redraw();
      });
    };
    const fetchPage = async (from: number, signal: AbortSignal) => {
      const part = await read(from, signal);
      return part ? toPage(part) : { frames: [], next: from, eof: false };
    };
    opened.current = { key, store, feed: new LogFeed({ store, fetchPage, onChange, pollMs }) };
  }
  const { store, feed } = opened.current;
  useEffect(() => {
    if (active) feed.start();
  }, [active, feed]);
  useEffect(() => () => opened.current?.feed.stop(), []);
  return { store, feed, revision };
}
