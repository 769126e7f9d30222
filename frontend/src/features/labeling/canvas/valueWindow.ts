import { type ValueWindow, windowOfRange } from './deepTile';

/** The values of a deep picture, and those of them that are shown from black to white. */
export interface ShownValues {
  low: number;
  high: number;
  window: ValueWindow;
}

/** A drag over so many pixels of the screen goes through the whole range of values. */
const RANGE_PX = 512;

const within = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

/** The values of a picture with this window; null for one of 8 bits. */
export function shownValues(
  source: { bits: number; low: number; high: number } | null,
  window: ValueWindow | null,
): ShownValues | null {
  if (!source || source.bits <= 8) return null;
  const { low, high } = source;
  return { low, high, window: window ?? windowOfRange(low, high) };
}

/** The window after a drag as viewers of X-rays have it: to the right it is wider, downwards its centre is higher. */
export function draggedWindow({ low, high, window }: ShownValues, across: number, down: number): ValueWindow {
  const span = Math.max(1, high - low);
  const step = span / RANGE_PX;
  return {
    centre: within(window.centre + down * step, low, high),
    width: within(window.width + across * step, 1, span),
  };
}
