import { rectOf } from '../geometry/points';
import { rectRing } from '../geometry/shapes';
import type { Point } from '../model';
import { IDLE, insidePicture, type Tool, type ToolHost } from './tool';

/** Narrower than this on the screen, and a press was a click. */
const CLICK_PX = 4;

/** A box by two corners: drag from one to the other, or click both. */
export function boxTool(host: ToolHost): Tool {
  let start: Point | null = null;
  let end: Point | null = null;
  let isDragged = false;
  const reset = () => {
    start = null;
    end = null;
    isDragged = false;
    host.changed();
  };
  const cornerAt = (at: Point) => insidePicture(at, host.editor.document);
  const finish = (corner: Point) => {
    if (!start) return;
    const box = rectOf(start, corner);
    // A line or a dot is no box: the second corner is still to come.
    if (box[2] === 0 || box[3] === 0) return;
    reset();
    host.create({ kind: 'box', box });
  };
  const isFar = (at: Point) =>
    start !== null && Math.hypot(at[0] - start[0], at[1] - start[1]) * host.view.scale >= CLICK_PX;
  return {
    ...IDLE,
    name: 'box',
    pointerDown({ at }) {
      if (start) {
        finish(cornerAt(at));
        return;
      }
      if (!host.mayDraw('box')) return;
      start = cornerAt(at);
      end = start;
      isDragged = true;
      host.changed();
    },
    pointerMove({ at }) {
      if (!start) return;
      end = cornerAt(at);
      host.changed();
    },
    pointerUp({ at }) {
      if (!start || !isDragged) return;
      isDragged = false;
      if (isFar(cornerAt(at))) finish(cornerAt(at));
    },
    cancel() {
      const wasDrawing = start !== null;
      reset();
      return wasDrawing;
    },
    key(press) {
      if (press.key !== 'Backspace' || !start) return false;
      reset();
      return true;
    },
    paint(paint) {
      if (start && end) paint.line(rectRing(rectOf(start, end)), { closed: true, fill: true });
    },
  };
}
