import type { LeasedSlot } from '@/api/contract/labeling';
import { pooled } from './pool';

/** Ours still, gone, or held by another window of the same person. */
export type Lease = 'held' | 'lost' | 'elsewhere';
export type Gone = Exclude<Lease, 'held'>;

/** An item that somebody holds: the number of the lease fences it. */
export type Held = Pick<LeasedSlot, 'id' | 'lease_no'>;

export interface LeasesOptions<T extends Held> {
  /** Throws when the server cannot be reached. */
  heartbeat: (slot: T) => Promise<Lease>;
  /** Whether the page has the image still: what was submitted while the server was asked is not lost. */
  isOurs?: (slot: T) => boolean;
  /** Leases are gone; each is told once. */
  onLost?: (slots: T[], lease: Gone) => void;
}

/** How often leases are kept alive. */
export const HEARTBEAT_MS = 30_000;

const REQUESTS_AT_ONCE = 4;
/** A lease that the server has not confirmed for so long is asked for before its image is shown. */
const SURE_MS = 45_000;

/** Which of the images that this page was given are still its own. */
export class Leases<T extends Held> {
  private lost = new Set<string>();
  private confirmedAt = new Map<string, number>();

  private readonly options: LeasesOptions<T>;

  constructor(options: LeasesOptions<T>) {
    this.options = options;
  }

  confirm(slots: readonly Held[]): void {
    for (const { id } of slots) {
      this.lost.delete(id);
      this.confirmedAt.set(id, Date.now());
    }
  }

  isLost = (slot: Held): boolean => this.lost.has(slot.id);

  /** Those among `slots` that the server has not confirmed for long. */
  unsure(slots: readonly T[]): T[] {
    return slots.filter(({ id }) => Date.now() - (this.confirmedAt.get(id) ?? 0) > SURE_MS);
  }

  /** Keeps the leases of `slots` alive. One that is lost is told once and asked for no more. */
  async beat(slots: readonly T[]): Promise<void> {
    const gone: Record<Gone, T[]> = { lost: [], elsewhere: [] };
    const ours = slots.filter((slot) => !this.isLost(slot));
    const { heartbeat, isOurs = () => true } = this.options;
    await pooled(ours, REQUESTS_AT_ONCE, async (slot) => {
      if (!isOurs(slot)) return;
      const lease = await heartbeat(slot);
      if (lease === 'held') this.confirm([slot]);
      else if (!isOurs(slot)) return;
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
