import type { PlacementCandidate, PlacementEstimate, Run } from '@/api/contract/jobs';
import type { ChoiceReason } from '@/api/schema';

/** Times in seconds; null until they are known, or if they never will be. */
interface Times {
  queue_s: number | null;
  data_s: number | null;
  image_s: number | null;
}

/** Why a run went to a place, with the estimates of then and what came of them. */
export interface RunPlacement {
  decided_at: string;
  /** Null where no place takes the run. */
  chosen: string | null;
  by: 'auto' | 'person';
  why: ChoiceReason | null;
  assumptions: ChoiceReason[];
  candidates: PlacementCandidate[];
  /** Null where no place takes the run. */
  assumed:
    | (Times & { start_s: PlacementEstimate; run_s: PlacementEstimate; cost: string | null; currency: string })
    | null;
  came: Times & { start_s: number | null; run_s: number | null; cost: string | null };
}

/** The decision of a run; null for runs of before there were any. */
export const placementOf = (run: Run): RunPlacement | null =>
  (run as Run & { placement_decision?: RunPlacement | null }).placement_decision ?? null;
