import type { LeasedSlot } from '@/api/contract/labeling';
import { pooled } from './pool';

/** Ours still, gone, or held by another window of the same person. */
export type Lease = 'held' | 'lost' | 'elsewhere';
export type Gone = Exclude<Lease, 'held'>;

export interface LeasesOptions {
  /** Throws when the server cannot be reached. */
  heartbeat: (slot: LeasedSlot) => Promise<Lease>;
  /** Leases are gone; each is told once. */
  onLost?: (slots: LeasedSlot[], lease: Gone) => void;
}

const REQUESTS_AT_ONCE = 4;
/** A lease that the server has not confirmed for so long is asked for before its image is shown. */
const SURE_MS = 45_000;

/** Which of the images that this page was given are still its own. */
export class Leases {
  private lost = new Set<string>();
  private confirmedAt = new Map<string, number>();

  private readonly options: LeasesOptions;

  constructor(options: LeasesOptions) {
    this.options = options;
  }

  confirm(slots: readonly LeasedSlot[]): void {
    for (const { id } of slots) {
      this.lost.delete(id);
      this.confirmedAt.set(id, Date.now());
    }
  }

  isLost = (slot: LeasedSlot): boolean => this.lost.has(slot.id);

  /** Of `slots` those that the server has not confirmed for long. */
  unsure(slots: readonly LeasedSlot[]): LeasedSlot[] {
    return slots.filter(({ id }) => Date.now() - (this.confirmedAt.get(id) ?? 0) > SURE_MS);
  }

  /** Keeps the leases of `slots` alive. One that is lost is told once and asked for no more. */
  async beat(slots: readonly LeasedSlot[]): Promise<void> {
    const gone: Record<Gone, LeasedSlot[]> = { lost: [], elsewhere: [] };
    const ours = slots.filter((slot) => !this.isLost(slot));
    await pooled(ours, REQUESTS_AT_ONCE, async (slot) => {
      const lease = await this.options.heartbeat(slot);
      if (lease === 'held') this.confirm([slot]);
      // Another question may have had the same answer.
      else if (!this.isLost(slot)) {
        this.lost.add(slot.id);
        gone[lease].push(slot);
      }
    });
    for (const lease of ['lost', 'elsewhere'] as const)
      if (gone[lease].length > 0) this.options.onLost?.(gone[lease], lease);
  }
}
