import type { DrawnObject, Point, RelationKind } from '../model';
import { middleOf } from '../paintRelations';
import { IDLE, type Tool, type ToolHost } from './tool';

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
      if (from && pointer) paint.line([...middleOf(from), ...pointer], { dashed: true });
    },
  };
}
