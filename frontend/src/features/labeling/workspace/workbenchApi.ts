import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import type { Lease } from './leases';

/** The requests of the labeler's table to the server. */
export interface WorkbenchApi<D = number | null> {
  /**
   * Holds this person's work on this page, returned work first. Items of another open page of theirs stay there, unless
   * `everything` is true.
   */
  takeUp: (everything: boolean) => Promise<{ leased: LeasedSlot[]; returned: LeasedSlot[] }>;
  /** `prefetch`: the page has something to show already, so that these may go to somebody who has nothing. */
  lease: (count: number, prefetch: boolean) => Promise<LeasedSlot[]>;
  /** Keeps what comes on the screen; returns the ids of those that are somebody else's by now. */
  show: (slots: readonly LeasedSlot[]) => Promise<string[]>;
  submit: (submissions: Submission[]) => Promise<SubmitResult[]>;
  /** Whether the lease holds; throws when the server cannot be reached. */
  heartbeat: (slot: LeasedSlot) => Promise<Lease>;
  /** The page goes away: its leases end in a minute, and what it never showed is open at once. */
  leave: () => void;
  /** The page is back from the browser's cache. */
  returned: () => void;
  skip: (slot: LeasedSlot, reason: string) => Promise<unknown>;
  /** Takes a skip back; throws when somebody else has the image by now. */
  unskip: (slot: LeasedSlot) => Promise<LeasedSlot>;
  /** Throws when the server cannot be reached. */
  saveDraft: (slot: LeasedSlot, sequence: number, value: D) => Promise<unknown>;
}
