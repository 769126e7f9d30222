import { distance, pointAt, pointCount } from '../geometry/points';
import { lastSegmentCrosses } from '../geometry/rings';
import type { Point } from '../model';
import { snapped } from './snap';
import { type ActivePaint, IDLE, insidePicture, type Pointer, type Tool, type ToolHost, type ToolName } from './tool';

/** A drag adds a point each time it has gone this far on the screen. */
const FREEHAND_PX = 8;

export interface LineOptions {
  name: ToolName;
  isClosed: boolean;
  minimum: number;
  /** A line that cuts starts and ends outside of the picture if it must. */
  leavesPicture?: boolean;
  /** The line may not cross itself: it becomes a border. */
  isSimple?: boolean;
  /** Whether drawing may begin; it says why not. */
  mayStart(): boolean;
  /** Take the finished line; false keeps it, so that nothing drawn is lost. */
  finish(points: readonly number[]): boolean;
}

/**
 * Points by clicks, or many by dragging. Enter, a double click, and for borders a click on the first point finish;
 * Backspace takes the last point back; Ctrl does not snap to neighbours.
 */
export function lineTool(host: ToolHost, options: LineOptions): Tool {
  const { isClosed, minimum } = options;
  let points: number[] = [];
  let pointer: Point | null = null;
  let isPressed = false;

  const placeOf = ({ at, ctrl }: Pointer): Point => {
    const place = options.leavesPicture ? at : insidePicture(at, host.editor.document);
    return ctrl ? place : snapped(host, place);
  };
  const reset = () => {
    points = [];
    isPressed = false;
    host.changed();
  };
  function finish(): void {
    if (pointCount(points) < minimum) {
      host.notify({ code: 'tooFewPoints', at: pointAt(points, 0) });
      return;
    }
    if (options.finish(points)) reset();
  }
  function add(place: Point): void {
    const last = pointCount(points) - 1;
    if (last >= 0 && distance(pointAt(points, last), place) === 0) return;
    const crossing = options.isSimple ? lastSegmentCrosses([...points, ...place]) : null;
    if (crossing) {
      host.notify({ code: 'crossing', at: crossing });
      return;
    }
    points = [...points, ...place];
    host.changed();
  }
  const isOnFirst = (at: Point) =>
    isClosed && pointCount(points) >= minimum && distance(pointAt(points, 0), at) <= host.reach;

  return {
    ...IDLE,
    name: options.name,
    pointerDown(event) {
      if (points.length === 0 && !options.mayStart()) return;
      // The double click's first press has set the point already.
      if (isOnFirst(event.at) || event.presses === 2) {
        finish();
        return;
      }
      isPressed = true;
      pointer = placeOf(event);
      add(pointer);
    },
    pointerMove(event) {
      pointer = placeOf(event);
      const last = pointCount(points) - 1;
      if (!isPressed || last < 0) return;
      const isFar = distance(pointAt(points, last), event.at) * host.view.scale >= FREEHAND_PX;
      if (isFar && !isOnFirst(event.at)) add(pointer);
    },
    pointerUp() {
      isPressed = false;
    },
    key({ key }) {
      if (points.length === 0) return false;
      if (key === 'Enter') finish();
      else if (key === 'Backspace') {
        points = points.slice(0, -2);
        host.changed();
      } else return false;
      return true;
    },
    cancel() {
      const wasDrawing = points.length > 0;
      reset();
      return wasDrawing;
    },
    paint(paint) {
      paintLine(paint, points, pointer, isClosed);
    },
  };
}

function paintLine(paint: ActivePaint, points: readonly number[], pointer: Point | null, isClosed: boolean): void {
  if (points.length === 0) return;
  paint.line(pointer ? [...points, ...pointer] : points, { fill: isClosed, closed: false });
  paint.handles(Array.from({ length: pointCount(points) }, (_, index) => pointAt(points, index)));
}
