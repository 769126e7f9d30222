import type { CommitRequest } from '@/api/contract/datasets';

/** How far the server is with an operation. */
export type Progressing = Pick<
  CommitRequest,
  'id' | 'state' | 'stage' | 'progress' | 'rows_done' | 'rows_total' | 'cancellable'
>;

/** An operation of the server on a dataset, with its progress and a way to stop it. */
export interface Operation {
  /** The request as it was seen last; undefined while nothing runs. */
  running: Progressing | undefined;
  /** Follows a request to its end, and has what changed shown. */
  follow: (asked: CommitRequest) => Promise<CommitRequest>;
  cancel: () => void;
}
