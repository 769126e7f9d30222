import type { ShownTable } from './shownTable';

/** Where the work is; `saved` only when the server has answered for all of it. */
export type SaveState = 'unsafe' | 'local' | 'saving' | 'held' | 'saved';

type Parts = Pick<ShownTable, 'outbox' | 'held' | 'drafts' | 'durable'>;

export function saveStateOf({ outbox, held, drafts, durable }: Parts): SaveState {
  if (outbox.offline || drafts.offline) return durable ? 'local' : 'unsafe';
  if (outbox.waiting > 0 || drafts.unsent.size > 0) return 'saving';
  return held ? 'held' : 'saved';
}
