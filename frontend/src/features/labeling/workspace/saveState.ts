import type { Workbench } from './workbench';

/** Where the work is; `saved` only when the server has answered for all of it. */
export type SaveState = 'unsafe' | 'local' | 'saving' | 'held' | 'saved';

type Parts = Pick<Workbench, 'outbox' | 'held' | 'draftsUnsent' | 'draftsFailed' | 'durable'>;

export function saveStateOf({ outbox, held, draftsUnsent, draftsFailed, durable }: Parts): SaveState {
  if (outbox.offline || draftsFailed) return durable ? 'local' : 'unsafe';
  if (outbox.waiting > 0 || draftsUnsent > 0) return 'saving';
  return held ? 'held' : 'saved';
}
