import { distance } from '../geometry/points';
import type { Point } from '../model';
import { IDLE, insidePicture, type Tool, type ToolHost } from './tool';

export const pointTool = (host: ToolHost): Tool => ({
  ...IDLE,
  name: 'point',
  pointerDown({ at }) {
    if (host.mayDraw('point')) host.create({ kind: 'point', points: insidePicture(at, host.editor.document) });
  },
});

const LENGTH_DIGITS = 1;

/** Shows how far two places are from each other; draws nothing. */
export function rulerTool(host: ToolHost): Tool {
  let from: Point | null = null;
  let to: Point | null = null;
  let isDragged = false;
  return {
    ...IDLE,
    name: 'ruler',
    pointerDown({ at }) {
      from = at;
      to = at;
      isDragged = true;
      host.changed();
    },
    pointerMove({ at }) {
      if (!isDragged) return;
      to = at;
      host.changed();
    },
    pointerUp() {
      isDragged = false;
    },
    cancel() {
      const wasMeasuring = from !== null;
      from = null;
      to = null;
      host.changed();
      return wasMeasuring;
    },
    paint(paint) {
      if (!from || !to) return;
      paint.line([...from, ...to], { dashed: true });
      paint.handles([from, to]);
      const [across, down] = [Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])];
      const shown = [distance(from, to), across, down].map((length) => length.toFixed(LENGTH_DIGITS));
      paint.text(to, `${shown[0]} px (${shown[1]} × ${shown[2]})`);
    },
  };
}
