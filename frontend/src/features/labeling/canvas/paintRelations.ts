import type { Editor } from './editor';
import { boundsOf } from './geometry/shapes';
import { type DrawnObject, isDrawn, type Ontology, objectsOf, type Point, relationsOf } from './model';
import type { ActivePaint } from './tools/tool';

export const middleOf = (object: DrawnObject): Point => {
  const [x, y, width, height] = boundsOf(object);
  return [x + width / 2, y + height / 2];
};

/** Lines between related objects with the name of their kind; a square marks the end. Hidden and `left` ends hide them. */
export function paintRelations(
  paint: ActivePaint,
  { document, hidden }: Pick<Editor, 'document' | 'hidden'>,
  ontology: Ontology,
  left: readonly string[] = [],
): void {
  const relations = relationsOf(document);
  if (relations.length === 0) return;
  const out = new Set([...hidden, ...left]);
  const objects = new Map(objectsOf(document).map((object) => [object.id, object]));
  const names = new Map((ontology.schema?.relations ?? []).map(({ id, name }) => [id, name]));
  for (const relation of relations) {
    const [start, end] = [objects.get(relation.from), objects.get(relation.to)];
    if (!start || !end || !isDrawn(start) || !isDrawn(end) || out.has(start.id) || out.has(end.id)) continue;
    const [a, b] = [middleOf(start), middleOf(end)];
    paint.line([...a, ...b]);
    paint.handles([b]);
    paint.text([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], names.get(relation.relation) ?? '');
  }
}
