/** A pause longer than this is not work: the person was away. */
const IDLE_MS = 15_000;

/** Measures the time spent working, from the moments at which something was done. */
export class ActiveTime {
  private total = 0;
  private last: number | null = null;

  touch(nowMs: number): void {
    if (this.last !== null) this.total += Math.min(IDLE_MS, Math.max(0, nowMs - this.last));
    this.last = nowMs;
  }

  /** Milliseconds since the last `take`; starts again from zero. */
  take(nowMs: number): number {
    this.touch(nowMs);
    const taken = this.total;
    this.total = 0;
    return taken;
  }
}
