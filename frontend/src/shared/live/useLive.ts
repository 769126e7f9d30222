import { useCallback, useEffect, useRef, useState } from 'react';
import { useIsOnline } from './connection';
import { LiveSocket, type LiveStatus } from './socket';

export interface UseLiveOptions<Message> {
  /** Path such as `/ws/runs/<id>/`; null: not live (finished, or not known yet). */
  path: string | null;
  /** Query parameters, read anew at every connection: put the offset to resume from here. */
  params?: () => Record<string, string | number | null | undefined>;
  onMessages: (batch: Message[]) => void;
}

export interface Live {
  status: LiveStatus;
  paused: boolean;
  pause: () => void;
  resume: () => void;
  /** False when there is no open connection. */
  send: (message: object) => boolean;
}

export function socketUrl(path: string, params: Record<string, string | number | null | undefined> = {}): string {
  const url = new URL(path, window.location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  for (const [name, value] of Object.entries(params)) if (value != null) url.searchParams.set(name, String(value));
  return url.href;
}

/** Live messages of one path. Pausing closes the connection; resuming continues from `params()`. */
export function useLive<Message>({ path, params, onMessages }: UseLiveOptions<Message>): Live {
  const [status, setStatus] = useState<LiveStatus>('closed');
  const [paused, setPaused] = useState(false);
  const isOnline = useIsOnline();
  const latest = useRef({ params, onMessages });
  latest.current = { params, onMessages };
  const socket = useRef<LiveSocket<Message> | null>(null);

  useEffect(() => {
    if (path === null || paused) {
      setStatus(paused ? 'paused' : 'closed');
      return;
    }
    const live = new LiveSocket<Message>({
      url: () => socketUrl(path, latest.current.params?.()),
      onMessages: (batch) => latest.current.onMessages(batch),
      onStatus: setStatus,
    });
    socket.current = live;
    live.start();
    return () => {
      socket.current = null;
      live.stop();
    };
  }, [path, paused]);

  const pause = useCallback(() => setPaused(true), []);
  const resume = useCallback(() => setPaused(false), []);
  const send = useCallback((message: object) => socket.current?.send(message) ?? false, []);
  // A network that is gone breaks no socket for a long time.
  const shown = status === 'live' && !isOnline ? 'reconnecting' : status;
  return { status: shown, paused, pause, resume, send };
}
