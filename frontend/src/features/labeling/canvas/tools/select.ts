import { selectedObjects } from '../editor';
import { boundsOfObjects, objectOf } from '../edits';
import { rectOf } from '../geometry/points';
import { nearestEdge, polygonProblem } from '../geometry/rings';
import { allowedShift, boundsOf, moved, rectRing, shapeOf, withShape } from '../geometry/shapes';
import { type DrawnObject, isDrawn, type Point, type Rect, type Shape } from '../model';
import { pictureRect, type View } from '../view';
import { dragged, type Handle, handleAt, handlesWithin } from './handles';
import { snapped } from './snap';
import { IDLE, insidePicture, type Pointer, type Tool, type ToolHost } from './tool';

const TURN_HANDLE_PX = 24;
/** Shorter than this on the screen, and a drag was a click. */
const CLICK_PX = 3;

type Drag =
  | { kind: 'move'; start: Point; ids: readonly string[]; shift: Point; isFar: boolean; bounds?: Rect | null }
  | { kind: 'handle'; object: DrawnObject; handle: Handle; shape: Shape; isFar: boolean; start: Point }
  | { kind: 'lasso'; start: Point; end: Point };

/** Select, move and reshape. Alt picks what lies below, Shift and Ctrl add; a double click on an edge adds a vertex. */
export function selectTool(host: ToolHost): Tool {
  let drag: Drag | null = null;
  let hover: Handle | null = null;
  let active: { id: string; handle: Handle } | null = null;

  const only = (): DrawnObject | null => {
    const [object, other] = selectedObjects(host.editor);
    return object && !other && isDrawn(object) ? object : null;
  };
  const isLocked = (id: string) => host.editor.locked.includes(id);
  const handles = (): Handle[] => {
    const object = only();
    if (!object || isLocked(object.id)) return [];
    return within(object);
  };
  /** Made once for an object and a view: a large shape has many vertices, and the pointer moves often. */
  let made: { object: DrawnObject; view: View; handles: Handle[] } | null = null;
  function within(object: DrawnObject): Handle[] {
    if (made?.object !== object || made.view !== host.view) {
      const window = pictureRect(host.view, [0, 0, host.size.width, host.size.height]);
      const handles = handlesWithin(shapeOf(object), TURN_HANDLE_PX / host.view.scale, window);
      made = { object, view: host.view, handles };
    }
    return made.handles;
  }
  const isFar = (start: Point, at: Point) =>
    Math.hypot(at[0] - start[0], at[1] - start[1]) * host.view.scale >= CLICK_PX;

  function pressedHandle(pointer: Pointer): boolean {
    const object = only();
    const handle = handleAt(handles(), pointer.at, host.reach);
    if (!object || !handle) return false;
    if (handle.kind === 'vertex' && pointer.alt) {
      host.dispatch({ type: 'removeVertex', id: object.id, ...handle.place });
      return true;
    }
    active = { id: object.id, handle };
    drag = { kind: 'handle', object, handle, shape: shapeOf(object), isFar: false, start: pointer.at };
    return true;
  }

  function insertedVertex(pointer: Pointer): boolean {
    const object = only();
    if (!object || isLocked(object.id)) return false;
    const lines = object.kind === 'polygon' ? object.parts : object.kind === 'polyline' ? [[object.points]] : [];
    for (const [part, rings] of lines.entries())
      for (const [ring, points] of rings.entries()) {
        const edge = nearestEdge(points, object.kind === 'polygon', pointer.at);
        if (!edge || edge.distance > host.reach) continue;
        host.dispatch({ type: 'insertVertex', id: object.id, part, ring, index: edge.index + 1, at: edge.at });
        return true;
      }
    return false;
  }

  function pressedObject(pointer: Pointer): boolean {
    const hits = host.pickAll(pointer.at);
    const { selected } = host.editor;
    const current = hits.findIndex(({ object }) => selected.includes(object.id));
    // Alt goes one deeper each time, and from the bottom back to the top.
    const hit = pointer.alt ? hits[(current + 1) % Math.max(1, hits.length)] : hits[0];
    if (!hit) return false;
    const adds = pointer.shift || pointer.ctrl;
    // A selected object among others moves them all; a click on it that is no drag selects it alone.
    const kept = !adds && !pointer.alt && current >= 0 ? hits[current] : undefined;
    if (!kept) host.dispatch({ type: 'select', ids: [hit.object.id], how: adds ? 'toggle' : 'only' });
    const ids = host.editor.selected.filter((id) => !isLocked(id));
    drag = { kind: 'move', start: pointer.at, ids, shift: [0, 0], isFar: false };
    return true;
  }

  function movedBy(at: Point, current: Extract<Drag, { kind: 'move' }>): Point {
    // The document stays while something is dragged, and so do the bounds.
    if (current.bounds === undefined)
      current.bounds = boundsOfObjects(current.ids.flatMap((id) => objectOf(host.editor.document, id) ?? []));
    const { bounds } = current;
    if (!bounds) return [0, 0];
    const { width, height } = host.editor.document;
    return allowedShift(bounds, at[0] - current.start[0], at[1] - current.start[1], width, height);
  }

  function handledTo(pointer: Pointer, current: Extract<Drag, { kind: 'handle' }>): Shape {
    const { handle, object } = current;
    const inside = handle.kind === 'turn' ? pointer.at : insidePicture(pointer.at, host.editor.document);
    const to = handle.kind === 'vertex' && !pointer.ctrl ? snapped(host, inside, object.id) : inside;
    return dragged(shapeOf(object), handle, to, pointer.shift) ?? current.shape;
  }

  function finishHandle(current: Extract<Drag, { kind: 'handle' }>): void {
    if (!current.isFar) return;
    const { shape, object } = current;
    const problem = shape.kind === 'polygon' ? polygonProblem(shape.parts) : null;
    if (problem) host.notify(problem);
    else host.dispatch({ type: 'reshape', id: object.id, shape });
  }

  function finishLasso(current: Extract<Drag, { kind: 'lasso' }>, pointer: Pointer): void {
    const rect = rectOf(current.start, current.end);
    const inside = host.objectsWithin(rect).filter((object) => {
      const [x, y, width, height] = boundsOf(object);
      return x >= rect[0] && y >= rect[1] && x + width <= rect[0] + rect[2] && y + height <= rect[1] + rect[3];
    });
    const how = pointer.shift || pointer.ctrl ? 'add' : 'only';
    host.dispatch({ type: 'select', ids: inside.map(({ id }) => id), how });
  }

  function previews(): DrawnObject[] {
    if (drag?.kind === 'handle') return [withShape(drag.object, drag.shape)];
    if (drag?.kind !== 'move' || !drag.isFar) return [];
    const [dx, dy] = drag.shift;
    return drag.ids.flatMap((id) => {
      const object = objectOf(host.editor.document, id);
      return object && isDrawn(object) ? [withShape(object, moved(shapeOf(object), dx, dy))] : [];
    });
  }

  return {
    ...IDLE,
    name: 'select',
    pointerDown(pointer) {
      active = null;
      if (pressedHandle(pointer)) return;
      if (pointer.presses === 2 && insertedVertex(pointer)) return;
      if (!pressedObject(pointer)) drag = { kind: 'lasso', start: pointer.at, end: pointer.at };
    },
    pointerMove(pointer) {
      if (!drag) {
        hover = handleAt(handles(), pointer.at, host.reach);
        return;
      }
      if (drag.kind === 'lasso') drag = { ...drag, end: pointer.at };
      else if (!drag.isFar && !isFar(drag.start, pointer.at)) return;
      else if (drag.kind === 'move') drag = { ...drag, isFar: true, shift: movedBy(pointer.at, drag) };
      else drag = { ...drag, isFar: true, shape: handledTo(pointer, drag) };
      host.changed();
    },
    pointerUp(pointer) {
      const current = drag;
      drag = null;
      if (current?.kind === 'handle') finishHandle(current);
      if (current?.kind === 'lasso') finishLasso(current, pointer);
      if (current?.kind === 'move' && current.isFar)
        host.dispatch({ type: 'move', ids: current.ids, dx: current.shift[0], dy: current.shift[1] });
      else if (current?.kind === 'move' && !pointer.alt && !pointer.shift && !pointer.ctrl)
        host.dispatch({ type: 'select', ids: [host.pick(pointer.at)?.object.id ?? ''] });
      host.changed();
    },
    key({ key }) {
      if ((key !== 'Delete' && key !== 'Backspace') || active?.handle.kind !== 'vertex') return false;
      // The vertex that was touched last goes before the object does.
      host.dispatch({ type: 'removeVertex', id: active.id, ...active.handle.place });
      active = null;
      return true;
    },
    cancel() {
      const wasDragging = drag !== null;
      drag = null;
      active = null;
      host.changed();
      return wasDragging;
    },
    cursor: () => (drag?.kind === 'move' && drag.isFar ? 'grabbing' : hover ? 'pointer' : 'default'),
    editing: () =>
      drag?.kind === 'move' && drag.isFar ? drag.ids : drag?.kind === 'handle' && drag.isFar ? [drag.object.id] : [],
    paint(paint) {
      const shown = previews();
      for (const object of shown) paint.object(object);
      const single = shown.length === 1 ? shown[0] : drag ? null : only();
      if (single && !isLocked(single.id)) paint.handles(within(single).map(({ at }) => at));
      if (drag?.kind === 'lasso') paint.line(rectRing(rectOf(drag.start, drag.end)), { closed: true, dashed: true });
    },
  };
}
