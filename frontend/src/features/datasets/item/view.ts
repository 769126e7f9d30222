/** Where a picture lies in its frame: a pure reducer. No React. */
export interface View {
  /** 1: as large as the frame has room for. */
  scale: number;
  /** How far its middle is from that of the frame, in CSS pixels. */
  x: number;
  y: number;
}

export const FITTED: View = { scale: 1, x: 0, y: 0 };
const [LEAST, MOST] = [1, 40];

/** Zooms by `factor` and leaves what is at `(x, y)`, measured from the middle of the frame, where it is. */
export function zoomed(view: View, factor: number, x = 0, y = 0): View {
  const scale = Math.min(MOST, Math.max(LEAST, view.scale * factor));
  if (scale === LEAST) return FITTED;
  const by = scale / view.scale;
  return { scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by };
}

/** Moves the picture, but never out of a frame of that size. */
export function moved(view: View, dx: number, dy: number, width: number, height: number): View {
  const within = (value: number, size: number) => {
    const most = ((view.scale - 1) * size) / 2;
    return Math.min(most, Math.max(-most, value)) + 0;
  };
  return { ...view, x: within(view.x + dx, width), y: within(view.y + dy, height) };
}
