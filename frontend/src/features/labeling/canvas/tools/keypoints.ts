import { selectedObjects } from '../editor';
import { objectOf } from '../edits';
import { boundsOfFlat, distance } from '../geometry/points';
import { presentPoints, shapeOf } from '../geometry/shapes';
import type { DrawnObject, KeypointsShape, Point, Skeleton } from '../model';
import { IDLE, insidePicture, labelOf, type Pointer, type Tool, type ToolHost } from './tool';

type KeypointsObject = Extract<DrawnObject, { kind: 'keypoints' }>;

const VISIBLE = 2;
const HIDDEN = 1;
const ABSENT = 0;

/**
 * Points in the skeleton's order: a click places the next one, with Shift or the other button a hidden one, and S
 * leaves one out. On a selected object a drag moves a point, a click on it turns visible into hidden into absent.
 */
export function keypointsTool(host: ToolHost): Tool {
  let points: number[] = [];
  let pointer: Point | null = null;
  let drag: { object: KeypointsObject; index: number; start: Point; at: Point | null } | null = null;

  const skeleton = (): Skeleton | null => labelOf(host.ontology, host.activeLabel)?.skeleton ?? null;
  const count = () => skeleton()?.points.length ?? 0;
  const next = () => points.length / 3;
  const reset = () => {
    points = [];
    drag = null;
    host.changed();
  };

  function add(at: Point, seen: number): void {
    points = [...points, ...(seen === ABSENT ? [0, 0] : at), seen];
    if (next() === count()) finish();
    host.changed();
  }

  /** Points that were not placed are absent. */
  function finish(): void {
    const missing = Array<number>(3 * (count() - next())).fill(0);
    const all = [...points, ...missing];
    if (presentPoints(all).length === 0) {
      host.notify({ code: 'tooFewPoints' });
      return;
    }
    reset();
    host.create(keypointsShape(all));
  }

  function pressedPoint({ at }: Pointer): boolean {
    const [object, other] = selectedObjects(host.editor);
    if (object?.kind !== 'keypoints' || other || points.length > 0 || host.editor.locked.includes(object.id))
      return false;
    const index = nearestKeypoint(object.points, at, host.reach);
    if (index === null) return false;
    drag = { object, index, start: at, at: null };
    return true;
  }

  function changedShape({ object, index, at }: NonNullable<typeof drag>): KeypointsShape {
    const seen = object.points[3 * index + 2] ?? VISIBLE;
    const place = at ?? pointOf(object.points, index);
    const state = at ? seen : seen === VISIBLE ? HIDDEN : ABSENT;
    const shape = shapeOf(object) as KeypointsShape;
    const entry = state === ABSENT ? [0, 0, 0] : [...place, state];
    return { ...shape, points: object.points.toSpliced(3 * index, 3, ...entry) };
  }

  return {
    ...IDLE,
    name: 'keypoints',
    pointerDown(event) {
      if (pressedPoint(event)) return;
      if (!host.mayDraw('keypoints')) return;
      if (count() === 0) host.notify({ code: 'noSkeleton' });
      else add(insidePicture(event.at, host.editor.document), event.shift || event.button === 2 ? HIDDEN : VISIBLE);
    },
    pointerMove({ at }) {
      pointer = insidePicture(at, host.editor.document);
      if (drag && (drag.at || distance(drag.start, at) * host.view.scale >= 3)) drag = { ...drag, at: pointer };
      if (drag) host.changed();
    },
    pointerUp() {
      const finished = drag;
      drag = null;
      if (!finished) return;
      const shape = changedShape(finished);
      if (presentPoints(shape.points).length === 0) host.notify({ code: 'tooFewPoints', at: finished.start });
      else if (objectOf(host.editor.document, finished.object.id))
        host.dispatch({ type: 'reshape', id: finished.object.id, shape });
      host.changed();
    },
    key({ key }) {
      if (key.toLowerCase() === 's' && count() > 0 && next() < count() && (points.length > 0 || pointer)) {
        if (points.length === 0 && !host.mayDraw('keypoints')) return false;
        add([0, 0], ABSENT);
      } else if (points.length === 0) return false;
      else if (key === 'Enter') finish();
      else if (key === 'Backspace') {
        points = points.slice(0, -3);
        host.changed();
      } else return false;
      return true;
    },
    cancel() {
      const wasDrawing = points.length > 0 || drag !== null;
      reset();
      return wasDrawing;
    },
    editing: () => (drag?.at ? [drag.object.id] : []),
    paint(paint) {
      if (drag?.at) paint.object({ ...drag.object, ...changedShape(drag) });
      if (points.length > 0) paint.object(draftOf(host, points));
      const name = skeleton()?.points[next()]?.name;
      if (pointer && name && !drag) paint.text(pointer, `${next() + 1}/${count()} ${name}`);
    },
  };
}

const pointOf = (points: readonly number[], index: number): Point => [
  points[3 * index] as number,
  points[3 * index + 1] as number,
];

/** COCO keeps a box beside the points; the bounds are what is known of it. */
function keypointsShape(points: readonly number[]): KeypointsShape {
  const box = boundsOfFlat(presentPoints(points));
  return box[2] > 0 && box[3] > 0 ? { kind: 'keypoints', points, box } : { kind: 'keypoints', points };
}

const draftOf = (host: ToolHost, points: readonly number[]): DrawnObject => ({
  id: '',
  label: host.activeLabel ?? 0,
  kind: 'keypoints',
  points,
});

function nearestKeypoint(points: readonly number[], at: Point, reach: number): number | null {
  let best: number | null = null;
  let bestDistance = reach;
  for (let index = 0; 3 * index + 2 < points.length; index++) {
    const far = distance(pointOf(points, index), at);
    if (points[3 * index + 2] === ABSENT || far > bestDistance) continue;
    best = index;
    bestDistance = far;
  }
  return best;
}
