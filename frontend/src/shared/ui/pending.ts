/**
 * Changes that `confirmUndo` has shown and not yet sent. They stand apart for modules that need no toasts: those are
 * not in the first bundle.
 */
export interface Waiting {
  about: string | undefined;
  /** Sends it now. */
  flush: () => void;
}

export const pending = new Set<Waiting>();
/** Changes that are being sent, until the server has answered. */
export const underWay = new Map<Promise<void>, string | undefined>();

function flushAll(about?: string): void {
  for (const one of [...pending]) if (about === undefined || one.about === about) one.flush();
}

if (typeof window !== 'undefined') window.addEventListener('pagehide', () => flushAll());

/**
 * Commits at once what could still be undone, all of it or what is `about` one thing, and waits for the answers. Before
 * something is set anew under the name of what goes: the removal would come after it, and take the new one.
 */
export async function flushPending(about?: string): Promise<void> {
  flushAll(about);
  const meant = [...underWay].filter(([, one]) => about === undefined || one === about);
  await Promise.all(meant.map(([done]) => done));
}
