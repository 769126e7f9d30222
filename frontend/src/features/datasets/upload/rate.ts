/** How fast something goes: over the last seconds, so that a pause or a faster line shows soon. */
const WINDOW_MS = 15_000;

export class Rate {
  private samples: [atMs: number, bytes: number][] = [];

  /** Notes that `bytes` are done in all. */
  note(bytes: number, nowMs = performance.now()): void {
    this.samples.push([nowMs, bytes]);
    // Two stay, however long ago: of a line so slow that it tells something only now and then.
    while (this.samples.length > 2 && (this.samples[0]?.[0] ?? nowMs) < nowMs - WINDOW_MS) this.samples.shift();
  }

  reset(): void {
    this.samples = [];
  }

  /** Bytes a second; null until there is something to tell it by. */
  get perSecond(): number | null {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    if (!first || !last || last[0] - first[0] < 500 || last[1] <= first[1]) return null;
    return ((last[1] - first[1]) * 1000) / (last[0] - first[0]);
  }
}
