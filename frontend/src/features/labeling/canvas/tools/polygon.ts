import { selectedObjects } from '../editor';
import { objectOf } from '../edits';
import { cutPolygon, subtractRing } from '../geometry/polygons';
import { polygonProblem } from '../geometry/rings';
import { areaOf } from '../geometry/shapes';
import type { DrawnObject } from '../model';
import { objectsOf } from '../model';
import { lineTool } from './line';
import type { Tool, ToolHost } from './tool';

type PolygonObject = Extract<DrawnObject, { kind: 'polygon' }>;

export const polygonTool = (host: ToolHost): Tool =>
  lineTool(host, {
    name: 'polygon',
    isClosed: true,
    isSimple: true,
    minimum: 3,
    mayStart: () => host.mayDraw('polygon'),
    finish(points) {
      const parts = [[points]];
      const problem = polygonProblem(parts);
      if (problem) {
        host.notify(problem);
        return false;
      }
      host.create({ kind: 'polygon', parts });
      return true;
    },
  });

export const polylineTool = (host: ToolHost): Tool =>
  lineTool(host, {
    name: 'polyline',
    isClosed: false,
    minimum: 2,
    mayStart: () => host.mayDraw('polyline'),
    finish(points) {
      host.create({ kind: 'polyline', points });
      return true;
    },
  });

/** The polygons that a hole or a cut may change: the selected ones, else all; the small ones first. */
function changeable(host: ToolHost): PolygonObject[] {
  const selected = selectedObjects(host.editor);
  const { hidden, locked, document } = host.editor;
  const candidates = selected.some(({ kind }) => kind === 'polygon') ? selected : objectsOf(document);
  return candidates
    .filter((object): object is PolygonObject => object.kind === 'polygon')
    .filter(({ id }) => !hidden.includes(id) && !locked.includes(id))
    .sort((a, b) => areaOf(a) - areaOf(b));
}

function mayChange(host: ToolHost): boolean {
  const isThere = changeable(host).length > 0;
  if (!isThere) host.notify({ code: 'nothingToCut' });
  return isThere;
}

/** A ring inside of a polygon is a hole; one across its border bites a piece off. */
export const holeTool = (host: ToolHost): Tool =>
  lineTool(host, {
    name: 'hole',
    isClosed: true,
    isSimple: true,
    minimum: 3,
    mayStart: () => mayChange(host),
    finish(ring) {
      const problem = polygonProblem([[ring]]);
      if (problem) {
        host.notify(problem);
        return false;
      }
      for (const { id, parts } of changeable(host)) {
        const rest = subtractRing(parts, ring);
        const isSame =
          rest.length === 0 ||
          Math.abs(areaOf({ kind: 'polygon', parts: rest }) - areaOf({ kind: 'polygon', parts })) < 1e-9;
        if (isSame) continue;
        host.dispatch({ type: 'reshape', id, shape: { kind: 'polygon', parts: rest } });
        host.dispatch({ type: 'select', ids: [id] });
        return true;
      }
      host.notify({ code: 'holeOutside', at: [ring[0] as number, ring[1] as number] });
      return false;
    },
  });

/** A line across polygons divides each that it runs through. */
export const splitTool = (host: ToolHost): Tool =>
  lineTool(host, {
    name: 'split',
    isClosed: false,
    minimum: 2,
    leavesPicture: true,
    mayStart: () => mayChange(host),
    finish(line) {
      const divided = changeable(host)
        .map(({ id, parts }) => ({ id, pieces: cutPolygon(parts, line).length }))
        .filter(({ pieces }) => pieces > 1);
      if (divided.length === 0) {
        host.notify({ code: 'notDivided', at: [line[0] as number, line[1] as number] });
        return false;
      }
      for (const { id, pieces } of divided) {
        if (!objectOf(host.editor.document, id)) continue;
        const newIds = Array.from({ length: pieces - 1 }, () => host.newId());
        host.dispatch({ type: 'split', id, line, newIds });
      }
      return true;
    },
  });
