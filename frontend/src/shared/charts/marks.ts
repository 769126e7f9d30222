import uPlot from 'uplot';
import type { CurveLine } from './curveLine';

/** The mark of a point: it stands at the edge of the chart towards which the value lies. */
export type Mark = 'nan' | 'up' | 'down';

export const markOf = (y: number): Mark => (Number.isNaN(y) ? 'nan' : y > 0 ? 'up' : 'down');

const SIZE_PX = 4;

function draw(context: CanvasRenderingContext2D, mark: Mark, x: number, y: number, size: number): void {
  context.beginPath();
  if (mark === 'nan') {
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
    context.stroke();
    return;
  }
  const tip = mark === 'up' ? -size : size;
  context.moveTo(x, y + tip);
  context.lineTo(x - size, y - tip);
  context.lineTo(x + size, y - tip);
  context.fill();
}

/** Marks points that have no place on the y axis: a cross for NaN, a triangle for infinity. */
export function drawMarks(plot: uPlot, lines: readonly CurveLine[]): void {
  const { ctx, bbox } = plot;
  const size = SIZE_PX * uPlot.pxRatio;
  ctx.save();
  ctx.lineWidth = 1.5 * uPlot.pxRatio;
  for (const { series, color, faded } of lines) {
    if (faded) continue;
    ctx.strokeStyle = ctx.fillStyle = color;
    let last = '';
    for (const { x, y } of series.undrawn) {
      const left = Math.round(plot.valToPos(x, 'x', true));
      const mark = markOf(y);
      // Thousands of them may share a pixel.
      if (left < bbox.left || left > bbox.left + bbox.width || last === `${left}${mark}`) continue;
      last = `${left}${mark}`;
      const top = mark === 'up' ? bbox.top + size : bbox.top + bbox.height - size;
      draw(ctx, mark, left, top, size);
    }
  }
  ctx.restore();
}
