import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { keyOf } from '@/api/client';
import { useLive } from './useLive';

/**
 * A message of the server on `/ws/projects/<slug>/`: a thing of this kind changed. `hello`: messages come from now on.
 */
export interface ProjectEvent {
  type: string;
  id?: string;
}

const OVERVIEW = '/api/v1/projects/{project}/overview/';
const REPORT = '/api/v1/projects/{project}/cleaning/{report_id}/';
const IN_DATASET = '/api/v1/projects/{project}/datasets/{dataset}/';

/** The queries that each kind of event makes out of date. */
const READ_AGAIN: Readonly<Record<string, readonly Parameters<typeof keyOf>[0][]>> = {
  // A cleaning report shows how far its run is.
  run: [
    OVERVIEW,
    '/api/v1/projects/{project}/runs/',
    '/api/v1/projects/{project}/runs/sums/',
    '/api/v1/projects/{project}/queue/',
    REPORT,
  ],
  comment: ['/api/v1/runs/{run_id}/comments/'],
  writer: [`${IN_DATASET}writers/`, `${IN_DATASET}write-jobs/`, `${IN_DATASET}activity/`],
  commit: [`${IN_DATASET}operations/`],
  labeltransfer: ['/api/v1/projects/{project}/labelx/transfers/', '/api/v1/labelx/transfers/{transfer_id}/'],
  cleaning: [`${IN_DATASET}versions/{ref}/cleaning/`, REPORT, `${IN_DATASET}activity/`],
  dataset: [`${IN_DATASET}versions/`, `${IN_DATASET}branches/`, `${IN_DATASET}tags/`, `${IN_DATASET}activity/`],
  replica: [`${IN_DATASET}versions/{ref}/replicas/`],
  source: ['/api/v1/projects/{project}/sources/', `${IN_DATASET}activity/`],
  cache: [`${IN_DATASET}versions/{ref}/cache/`],
  warm_plan: [
    '/api/v1/projects/{project}/warm-plans/',
    `${IN_DATASET}versions/{ref}/warm-plans/`,
    `${IN_DATASET}versions/{ref}/warm-choices/`,
    `${IN_DATASET}versions/{ref}/cache/`,
  ],
};
/** A busy project is read again so often, not at each event. */
const EVERY_MS = 2000;
/** An event may get lost: what is pushed is asked for again now and then. */
const SAFETY_MS = 60_000;

let isPushed = false;
const watchers = new Set<() => void>();
function setPushed(pushed: boolean): void {
  if (pushed === isPushed) return;
  isPushed = pushed;
  for (const watch of watchers) watch();
}
const subscribe = (watch: () => void) => {
  watchers.add(watch);
  return () => void watchers.delete(watch);
};

/** How often to ask for what the project's socket tells of: `pollMs` only while the socket is away. */
export function usePollMs(): (pollMs: number) => number {
  const pushed = useSyncExternalStore(subscribe, () => isPushed);
  return (pollMs) => (pushed ? SAFETY_MS : pollMs);
}

const listeners = new Set<(event: ProjectEvent) => void>();

/** Hears what the project's socket says of one thing. */
export interface Listening {
  /** Waits for the next event since the last wait: `safetyMs` at most, `pollMs` while the socket is away. */
  next: (pollMs: number, safetyMs: number) => Promise<void>;
  stop: () => void;
}

export function listenFor(id: string): Listening {
  let heard = false;
  let wake = () => {};
  const hear = (event: ProjectEvent) => {
    if (event.id !== id) return;
    heard = true;
    wake();
  };
  listeners.add(hear);
  const next = (pollMs: number, safetyMs: number) =>
    new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timeout);
        heard = false;
        wake = () => {};
        resolve();
      };
      const timeout = setTimeout(done, isPushed ? safetyMs : pollMs);
      wake = done;
      if (heard) done();
    });
  return { next, stop: () => void listeners.delete(hear) };
}

/** Reads again what changed in the project, for all pages; the shell calls it once. */
export function useProjectLive(slug: string | undefined): void {
  const client = useQueryClient();
  const changed = useRef(new Set<string>());
  const lastRead = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const readAgain = () => {
    timer.current = undefined;
    lastRead.current = Date.now();
    const paths = new Set([...changed.current].flatMap((type) => READ_AGAIN[type] ?? []));
    changed.current.clear();
    for (const path of paths) void client.invalidateQueries({ queryKey: keyOf(path) });
  };
  const live = useLive<ProjectEvent>({
    path: slug ? `/ws/projects/${slug}/` : null,
    onMessages: (batch) => {
      for (const event of batch) {
        const { type } = event;
        for (const hear of [...listeners]) hear(event);
        if (type === 'hello') {
          setPushed(true);
          // Whatever came while the socket was away.
          for (const kind of Object.keys(READ_AGAIN)) changed.current.add(kind);
        } else changed.current.add(type);
      }
      timer.current ??= setTimeout(readAgain, Math.max(0, lastRead.current + EVERY_MS - Date.now()));
    },
  });
  const isOpen = live.status === 'live';
  useEffect(() => {
    if (!isOpen) setPushed(false);
  }, [isOpen]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      setPushed(false);
    },
    [],
  );
}
