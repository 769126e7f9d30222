/** Where a curve is in each column of the screen: its middle, and how high and low the curve goes there. Canvas pixels. */
export interface Columns {
  x: number[];
  top: number[];
  bottom: number[];
}

/** The calls that a path of a canvas takes. */
export interface Pen {
  moveTo: (x: number, y: number) => void;
  lineTo: (x: number, y: number) => void;
  closePath: () => void;
}

/**
 * Draws a curve of which each column stands for many points: columns side by side are one area for `fill`, and a line of
 * `stroke` leads over those without a point. A line up and down in every column would look the same; to draw its
 * thousands of sharp turns takes several times as long.
 */
export function drawBand(columns: Columns, columnPx: number, linePx: number, fill: Pen, stroke: Pen): void {
  const { x } = columns;
  let start = 0;
  for (let i = 1; i <= x.length; i++) {
    const ends = i === x.length || (x[i] as number) - (x[i - 1] as number) > columnPx * 1.5;
    if (!ends) continue;
    drawArea(columns, start, i, columnPx, linePx / 2, fill);
    if (i < x.length) drawLink(columns, i - 1, i, stroke);
    start = i;
  }
}

/** The area of the columns `[start, end)`; two that do not touch are both made longer until they do. */
function drawArea({ x, top, bottom }: Columns, start: number, end: number, columnPx: number, halfPx: number, pen: Pen) {
  const between = (above: number, below: number) => ((bottom[above] as number) + (top[below] as number)) / 2;
  const upper = (i: number): number => {
    let y = top[i] as number;
    if (i > start) y = Math.min(y, between(i - 1, i));
    if (i + 1 < end) y = Math.min(y, between(i + 1, i));
    return y - halfPx;
  };
  const lower = (i: number): number => {
    let y = bottom[i] as number;
    if (i > start) y = Math.max(y, between(i, i - 1));
    if (i + 1 < end) y = Math.max(y, between(i, i + 1));
    return y + halfPx;
  };
  const left = (x[start] as number) - columnPx / 2;
  const right = (x[end - 1] as number) + columnPx / 2;
  pen.moveTo(left, upper(start));
  for (let i = start; i < end; i++) pen.lineTo(x[i] as number, upper(i));
  pen.lineTo(right, upper(end - 1));
  pen.lineTo(right, lower(end - 1));
  for (let i = end - 1; i >= start; i--) pen.lineTo(x[i] as number, lower(i));
  pen.lineTo(left, lower(start));
  pen.closePath();
}

/** A line from one column to a later one, between the ends that are nearest to each other. */
function drawLink({ x, top, bottom }: Columns, i: number, j: number, pen: Pen): void {
  const [topI, bottomI, topJ, bottomJ] = [top[i], bottom[i], top[j], bottom[j]] as [number, number, number, number];
  const shared = (Math.max(topI, topJ) + Math.min(bottomI, bottomJ)) / 2;
  const [from, to] = topJ > bottomI ? [bottomI, topJ] : bottomJ < topI ? [topI, bottomJ] : [shared, shared];
  pen.moveTo(x[i] as number, from);
  pen.lineTo(x[j] as number, to);
}
