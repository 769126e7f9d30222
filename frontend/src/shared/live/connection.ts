import { useSyncExternalStore } from 'react';

/** Whether the server answers. `offline`: the browser says that there is no network; `unreachable`: it only stays silent. */
export interface ConnectionState {
  kind: 'online' | 'offline' | 'unreachable';
  /** When it last answered: what is shown is not newer. */
  heardAtMs: number;
  /** When it is asked next; null while it answers, and while it is being asked. */
  retryAtMs: number | null;
}

const FIRST_DELAY_MS = 2000;
const MAX_DELAY_MS = 30_000;
const PATIENCE_MS = 8000;
/** A proxy answers in place of a server that is away. */
const FROM_A_PROXY = new Set([502, 504]);

/** Whether an answer is that of the server, and not of a proxy before it. */
export const isOwnAnswer = ({ status }: Response) => !FROM_A_PROXY.has(status);

async function askServer(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch('/healthz', { cache: 'no-store', signal });
    return isOwnAnswer(answer) && answer.status !== 503;
  } catch {
    return false;
  }
}

/**
 * The one place that knows whether the server answers. Requests tell it what became of them; one that got no answer is
 * no proof, so the server itself is asked then, and again at growing intervals until it answers.
 */
export class Connection {
  private readonly ask: () => Promise<boolean>;
  private readonly listeners = new Set<() => void>();
  private state: ConnectionState = { kind: 'online', heardAtMs: Date.now(), retryAtMs: null };
  private asking: Promise<boolean> | null = null;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ask: () => Promise<boolean> = askServer) {
    this.ask = ask;
  }

  readonly current = (): ConnectionState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  /** The server answered something. */
  readonly heard = (): void => {
    if (this.state.kind === 'online') {
      // The time is not drawn while all is well.
      this.state = { ...this.state, heardAtMs: Date.now() };
      return;
    }
    this.failures = 0;
    clearTimeout(this.timer);
    this.set({ kind: 'online', heardAtMs: Date.now(), retryAtMs: null });
  };

  /** A request got no answer, or a socket broke. */
  readonly missed = (): void => {
    if (this.state.kind === 'online') void this.check();
  };

  /** Asks the server now; whether it answers. */
  readonly check = (): Promise<boolean> => {
    this.asking ??= this.askOnce().finally(() => {
      this.asking = null;
    });
    return this.asking;
  };

  /** Resolves when the server answers. */
  returned(): Promise<void> {
    if (this.state.kind === 'online') return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.subscribe(() => {
        if (this.state.kind !== 'online') return;
        stop();
        resolve();
      });
    });
  }

  /** Listens to the browser; returns how to stop. */
  listen(): () => void {
    const check = () => void this.check();
    const onVisible = () => {
      if (!document.hidden && this.state.kind !== 'online') check();
    };
    window.addEventListener('offline', check);
    window.addEventListener('online', check);
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      window.removeEventListener('offline', check);
      window.removeEventListener('online', check);
      document.removeEventListener('visibilitychange', onVisible);
      clearTimeout(this.timer);
    };
  }

  private async askOnce(): Promise<boolean> {
    clearTimeout(this.timer);
    if (this.state.retryAtMs !== null) this.set({ ...this.state, retryAtMs: null });
    const answers = await this.ask();
    if (answers) this.heard();
    else this.waitLonger();
    return answers;
  }

  private waitLonger(): void {
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.failures);
    this.failures += 1;
    this.timer = setTimeout(() => void this.check(), delayMs);
    const kind = navigator.onLine === false ? 'offline' : 'unreachable';
    this.set({ ...this.state, kind, retryAtMs: Date.now() + delayMs });
  }

  private set(state: ConnectionState): void {
    this.state = state;
    for (const listener of [...this.listeners]) listener();
  }
}

export const connection = new Connection();

export const useConnection = (): ConnectionState => useSyncExternalStore(connection.subscribe, connection.current);

const isOnline = () => connection.current().kind === 'online';
export const useIsOnline = (): boolean => useSyncExternalStore(connection.subscribe, isOnline);

/** Styles that did not come: their loader asks for each only once, and the part would be shown without them. */
async function loadMissingStyles(): Promise<void> {
  const links = document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]');
  const anew = Array.from(links, (link) => {
    if (link.sheet) return null;
    const copy = link.cloneNode() as HTMLLinkElement;
    return new Promise<void>((resolve, reject) => {
      copy.onload = () => resolve();
      copy.onerror = () => reject(new Error(`${copy.href} could not be loaded.`));
      link.replaceWith(copy);
    });
  });
  await Promise.all(anew);
}

/**
 * Loads a part of the portal that was not needed before. While the server is away it waits: the router would load the
 * whole page again, and lose it.
 */
export const whenReachable =
  <T>(load: () => Promise<T>): (() => Promise<T>) =>
  () =>
    load().catch(async () => {
      // It may answer again by now. If it has not got the file, another version was installed, and this fails as well.
      if (!(await connection.check())) await connection.returned();
      await loadMissingStyles();
      return load();
    });
