import { BitMask } from '../bits';
import { selectedObjects } from '../editor';
import { unionOf } from '../geometry/points';
import type { DrawnObject, Point, Rect } from '../model';
import { maskBounds } from '../rle';
import { IDLE, labelOf, type Tool, type ToolHost } from './tool';

type MaskObject = Extract<DrawnObject, { kind: 'mask' }>;

interface Stroke {
  mask: BitMask;
  /** The mask that goes on; null: the stroke makes a new one. */
  object: MaskObject | null;
  erases: boolean;
  last: Point;
  /** The area that may hold ones, and the part of it that is not painted yet. */
  bounds: Rect;
  dirty: Rect;
  get: (x: number, y: number) => boolean;
}

const NOTHING: Rect = [0, 0, 0, 0];
const joined = (one: Rect, other: Rect): Rect => (one[2] > 0 ? unionOf([one, other]) : other);

/** Paints the selected mask, or a new one; Shift or the eraser takes away. A stroke is one step of the history. */
export function brushTool(host: ToolHost): Tool {
  let stroke: Stroke | null = null;
  let pointer: Point | null = null;
  let version = 0;

  const selectedMask = (): MaskObject | null => {
    const masks = selectedObjects(host.editor).filter((object): object is MaskObject => object.kind === 'mask');
    return masks.length === 1 ? (masks[0] ?? null) : null;
  };
  const maskBelow = (at: Point): MaskObject | null => {
    const hit = host.pickAll(at).find(({ object }) => object.kind === 'mask');
    return (hit?.object as MaskObject | undefined) ?? null;
  };

  function begin(at: Point, erases: boolean): void {
    const object = selectedMask() ?? (erases ? maskBelow(at) : null);
    if (object && host.editor.locked.includes(object.id)) {
      host.notify({ code: 'locked', at });
      return;
    }
    // There is nothing to take away from a mask that is not there.
    if (!object && (erases || !host.mayDraw('mask'))) return;
    const { width, height } = host.editor.document;
    const mask = object ? BitMask.of(object.rle) : new BitMask(width, height);
    const bounds = object ? maskBounds(object.rle) : NOTHING;
    stroke = { mask, object, erases, last: at, bounds, dirty: NOTHING, get: (x, y) => mask.get(x, y) };
    extend(at);
  }

  function extend(at: Point): void {
    if (!stroke) return;
    const changed = stroke.mask.stroke(stroke.last, at, host.brush.radius, !stroke.erases);
    stroke.last = at;
    stroke.dirty = joined(stroke.dirty, changed);
    stroke.bounds = joined(stroke.bounds, changed);
    version += 1;
    host.changed();
  }

  function finish(): void {
    if (!stroke) return;
    const { mask, object } = stroke;
    const isEmpty = mask.isEmpty();
    stroke = null;
    host.changed();
    if (isEmpty) {
      if (object) host.notify({ code: 'emptyMask', at: pointer ?? undefined });
      return;
    }
    const shape = { kind: 'mask' as const, rle: mask.toRle() };
    if (!object) host.create(shape);
    else if (shape.rle.counts !== object.rle.counts) host.dispatch({ type: 'reshape', id: object.id, shape });
  }

  const colorOf = (object: MaskObject | null): string =>
    labelOf(host.ontology, object?.label ?? host.activeLabel)?.color ?? '#228be6';

  return {
    ...IDLE,
    name: 'brush',
    pointerDown(event) {
      pointer = event.at;
      begin(event.at, host.brush.erases || event.shift);
    },
    pointerMove(event) {
      pointer = event.at;
      extend(event.at);
    },
    pointerUp: finish,
    key({ key }) {
      // Enter ends the mask: the next stroke begins a new one.
      if (key !== 'Enter' || !selectedMask()) return false;
      host.dispatch({ type: 'select', ids: [] });
      return true;
    },
    cancel() {
      const wasPainting = stroke !== null;
      stroke = null;
      host.changed();
      return wasPainting;
    },
    cursor: () => 'none',
    editing: () => (stroke?.object ? [stroke.object.id] : []),
    paint(paint) {
      if (stroke) {
        const { mask, object, dirty, bounds, get } = stroke;
        paint.mask({ width: mask.width, height: mask.height, get, color: colorOf(object), bounds, dirty, version });
        stroke.dirty = NOTHING;
      }
      if (pointer) paint.circle(pointer, host.brush.radius);
    },
  };
}
