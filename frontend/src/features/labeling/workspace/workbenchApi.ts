import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import type { Lease } from './leases';

/** What the labeler's table asks the server. */
export interface WorkbenchApi {
  myWork: () => Promise<{ leased: LeasedSlot[]; returned: LeasedSlot[] }>;
  lease: (count: number) => Promise<LeasedSlot[]>;
  submit: (submissions: Submission[]) => Promise<SubmitResult[]>;
  /** Whether the lease holds; throws when the server cannot be reached. */
  heartbeat: (slot: LeasedSlot) => Promise<Lease>;
  release: (slot: LeasedSlot) => Promise<unknown>;
  skip: (slot: LeasedSlot) => Promise<unknown>;
  /** Throws when the server cannot be reached. */
  saveDraft: (slot: LeasedSlot, sequence: number, labelId: number | null) => Promise<unknown>;
}
