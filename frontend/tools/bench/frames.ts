/** How far apart the frames of the browser are while something goes on. */
export class Frames {
  readonly gapsMs: number[] = [];
  private last = 0;
  private on = true;

  constructor(private readonly everyFrame: () => void = () => {}) {
    requestAnimationFrame(this.tick);
  }

  stop(): number[] {
    this.on = false;
    return this.gapsMs;
  }

  private readonly tick = (nowMs: number): void => {
    if (!this.on) return;
    if (this.last > 0) this.gapsMs.push(nowMs - this.last);
    this.last = nowMs;
    this.everyFrame();
    requestAnimationFrame(this.tick);
  };
}

export const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
export const restMs = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Milliseconds from a change until a frame in which `isDone` holds. */
export async function untilDrawn(change: () => void, isDone: () => boolean): Promise<number> {
  const started = performance.now();
  change();
  do await frame();
  while (!isDone());
  return performance.now() - started;
}
