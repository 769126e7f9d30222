import { boundsOf } from '../geometry/shapes';
import { type DrawnObject, isDrawn, objectsOf, type Point, type RelationKind, relationsOf } from '../model';
import { type ActivePaint, IDLE, type Tool, type ToolHost } from './tool';

const middleOf = (object: DrawnObject): Point => {
  const [x, y, width, height] = boundsOf(object);
  return [x + width / 2, y + height / 2];
};

const joins = ({ from, to }: RelationKind, start: number, end: number): boolean =>
  (!from || from.includes(start)) && (!to || to.includes(end));

/** Drag from one object to another. Without a chosen kind of relation the first one that may join the two is taken. */
export function relationTool(host: ToolHost): Tool {
  let from: DrawnObject | null = null;
  let pointer: Point | null = null;

  function join(start: DrawnObject, end: DrawnObject, at: Point): void {
    const kinds = host.ontology.schema?.relations ?? [];
    const chosen = kinds.filter(({ id }) => host.relation === null || id === host.relation);
    const kind = chosen.find((candidate) => joins(candidate, start.label, end.label));
    if (chosen.length === 0) host.notify({ code: 'noRelation' });
    else if (!kind) host.notify({ code: 'relationNotAllowed', at });
    else host.dispatch({ type: 'relate', id: host.newId(), relation: kind.id, from: start.id, to: end.id });
  }

  return {
    ...IDLE,
    name: 'relation',
    pointerDown({ at }) {
      const object = host.pick(at)?.object ?? null;
      // A second click ends what the first one began: dragging is not the only way.
      if (from && object && object.id !== from.id) {
        join(from, object, at);
        from = null;
      } else from = object;
      host.dispatch({ type: 'select', ids: from ? [from.id] : [] });
      host.changed();
    },
    pointerMove({ at }) {
      pointer = at;
    },
    pointerUp({ at }) {
      const end = host.pick(at)?.object;
      if (!from || !end || end.id === from.id) return;
      join(from, end, at);
      from = null;
      host.changed();
    },
    cancel() {
      const wasDrawing = from !== null;
      from = null;
      host.changed();
      return wasDrawing;
    },
    paint(paint) {
      paintRelations(paint, host);
      if (from && pointer) paint.line([...middleOf(from), ...pointer], { dashed: true });
    },
  };
}

function paintRelations(paint: ActivePaint, host: ToolHost): void {
  const { document } = host.editor;
  const objects = new Map(objectsOf(document).map((object) => [object.id, object]));
  const names = new Map((host.ontology.schema?.relations ?? []).map(({ id, name }) => [id, name]));
  for (const relation of relationsOf(document)) {
    const [start, end] = [objects.get(relation.from), objects.get(relation.to)];
    if (!start || !end || !isDrawn(start) || !isDrawn(end)) continue;
    const [a, b] = [middleOf(start), middleOf(end)];
    paint.line([...a, ...b]);
    paint.handles([b]);
    paint.text([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], names.get(relation.relation) ?? '');
  }
}
