import { pointCount } from './geometry/points';
import { boundsOf, moved, resized, shapeOf, turned, withShape } from './geometry/shapes';
import type {
  AnnotationObject,
  Attributes,
  AttributeValue,
  DocumentV2,
  DrawnObject,
  Point,
  Rect,
  Relation,
  Ring,
  Shape,
} from './model';
import { canonicalDocument, canonicalObject, isDrawn, objectsOf, relationsOf } from './model';

/** Changes of documents. Each returns the same document when nothing changes. */

export const objectOf = (document: DocumentV2, id: string): AnnotationObject | undefined =>
  objectsOf(document).find((object) => object.id === id);

export const withObjects = (document: DocumentV2, objects: readonly AnnotationObject[]): DocumentV2 =>
  canonicalDocument({ ...document, objects });

export function mapObjects(
  document: DocumentV2,
  ids: readonly string[],
  to: (object: AnnotationObject) => AnnotationObject,
): DocumentV2 {
  const chosen = new Set(ids);
  let isChanged = false;
  const objects = objectsOf(document).map((object) => {
    if (!chosen.has(object.id)) return object;
    const result = to(object);
    if (result === object) return object;
    isChanged = true;
    return canonicalObject(result);
  });
  return isChanged ? withObjects(document, objects) : document;
}

function mapShapes(document: DocumentV2, ids: readonly string[], to: (shape: Shape) => Shape): DocumentV2 {
  return mapObjects(document, ids, (object) => {
    if (!isDrawn(object)) return object;
    const shape = shapeOf(object);
    const result = to(shape);
    return result === shape ? object : withShape(object, result);
  });
}

export const moveObjects = (document: DocumentV2, ids: readonly string[], dx: number, dy: number): DocumentV2 =>
  mapShapes(document, ids, (shape) => moved(shape, dx, dy));

export const resizeObjects = (document: DocumentV2, ids: readonly string[], from: Rect, to: Rect): DocumentV2 =>
  mapShapes(document, ids, (shape) => resized(shape, from, to));

export const turnObjects = (document: DocumentV2, ids: readonly string[], centre: Point, degrees: number): DocumentV2 =>
  mapShapes(document, ids, (shape) => turned(shape, centre, degrees));

export const reshapeObject = (document: DocumentV2, id: string, shape: Shape): DocumentV2 =>
  mapShapes(document, [id], () => shape);

export const addObjects = (document: DocumentV2, added: readonly AnnotationObject[]): DocumentV2 =>
  added.length === 0 ? document : withObjects(document, [...objectsOf(document), ...added.map(canonicalObject)]);

/** A relation goes with either of its ends. */
export function deleteObjects(document: DocumentV2, ids: readonly string[]): DocumentV2 {
  const gone = new Set(ids);
  const objects = objectsOf(document).filter(({ id }) => !gone.has(id));
  if (objects.length === objectsOf(document).length) return document;
  const relations = relationsOf(document).filter(({ from, to }) => !gone.has(from) && !gone.has(to));
  return canonicalDocument({ ...document, objects, relations });
}

/** Objects with the relations between them: both ends are there. */
export interface Clipboard {
  readonly objects: readonly AnnotationObject[];
  readonly relations: readonly Relation[];
}

export const EMPTY_CLIPBOARD: Clipboard = { objects: [], relations: [] };

export function clipOf(document: DocumentV2, ids: readonly string[]): Clipboard {
  const chosen = new Set(ids);
  return {
    objects: objectsOf(document).filter(({ id }) => chosen.has(id)),
    relations: relationsOf(document).filter(({ from, to }) => chosen.has(from) && chosen.has(to)),
  };
}

/** The number of ids that copies of it need. */
export const idsNeeded = ({ objects, relations }: Clipboard): number => objects.length + relations.length;

/** Copies under new ids, first of the objects and then of the relations. */
export function copiesOf({ objects, relations }: Clipboard, ids: readonly string[], dx: number, dy: number): Clipboard {
  const copyOf = new Map(objects.map(({ id }, index) => [id, ids[index]]));
  const copied = relations.flatMap((relation, index) => {
    const [id, from, to] = [ids[objects.length + index], copyOf.get(relation.from), copyOf.get(relation.to)];
    return id && from && to ? [{ ...relation, id, from, to }] : [];
  });
  return { objects: copiedObjects(objects, ids, dx, dy), relations: copied };
}

export function addClip(document: DocumentV2, { objects, relations }: Clipboard): DocumentV2 {
  const added = addObjects(document, objects);
  if (relations.length === 0) return added;
  return canonicalDocument({ ...added, relations: [...relationsOf(added), ...relations] });
}

/** A copy is another thing, so it is on no track. */
function copiedObjects(
  objects: readonly AnnotationObject[],
  ids: readonly string[],
  dx: number,
  dy: number,
): AnnotationObject[] {
  return objects.flatMap((object, index) => {
    const id = ids[index];
    if (id === undefined) return [];
    const { track: _, ...copy } = object;
    const drawn = isDrawn(object) ? withShape(copy as DrawnObject, moved(shapeOf(object), dx, dy)) : copy;
    return [{ ...drawn, id } as AnnotationObject];
  });
}

export type Order = 'front' | 'back' | 'forward' | 'backward';

export function orderObjects(document: DocumentV2, ids: readonly string[], to: Order): DocumentV2 {
  const chosen = new Set(ids);
  const objects = [...objectsOf(document)];
  const picked = objects.filter(({ id }) => chosen.has(id));
  const rest = objects.filter(({ id }) => !chosen.has(id));
  if (picked.length === 0) return document;
  if (to === 'front') return sameOrder(document, [...rest, ...picked]);
  if (to === 'back') return sameOrder(document, [...picked, ...rest]);
  const step = to === 'forward' ? 1 : -1;
  const places = step > 0 ? [...objects.keys()].reverse() : [...objects.keys()];
  for (const place of places) {
    const object = objects[place] as AnnotationObject;
    const neighbour = objects[place + step];
    if (!chosen.has(object.id) || !neighbour || chosen.has(neighbour.id)) continue;
    objects[place] = neighbour;
    objects[place + step] = object;
  }
  return sameOrder(document, objects);
}

function sameOrder(document: DocumentV2, objects: readonly AnnotationObject[]): DocumentV2 {
  const before = objectsOf(document);
  return objects.every((object, index) => object === before[index]) ? document : withObjects(document, objects);
}

function withValue(attributes: Attributes | undefined, attribute: number, value: AttributeValue | null): Attributes {
  const { [String(attribute)]: _, ...others } = attributes ?? {};
  return value === null ? others : { ...attributes, [String(attribute)]: value };
}

export function setAttribute(
  document: DocumentV2,
  ids: readonly string[],
  attribute: number,
  value: AttributeValue | null,
): DocumentV2 {
  return mapObjects(document, ids, (object) => ({
    ...object,
    attributes: withValue(object.attributes, attribute, value),
  }));
}

export const setPictureAttribute = (
  document: DocumentV2,
  attribute: number,
  value: AttributeValue | null,
): DocumentV2 => canonicalDocument({ ...document, attributes: withValue(document.attributes, attribute, value) });

/** Attributes that the new label lacks would be refused on submission, so they go: `keep` names those it has. */
export function setLabel(
  document: DocumentV2,
  ids: readonly string[],
  label: number,
  keep?: readonly number[],
): DocumentV2 {
  const kept = keep && new Set(keep.map(String));
  return mapObjects(document, ids, (object) => {
    if (object.label === label) return object;
    const entries = Object.entries(object.attributes ?? {}).filter(([key]) => !kept || kept.has(key));
    return { ...object, label, attributes: Object.fromEntries(entries) };
  });
}

/** Where a vertex stands in a shape; lines have neither parts nor rings. */
export interface VertexPlace {
  part: number;
  ring: number;
  index: number;
}

/** Change one ring or line; null when the shape has none there. */
export function withRing(shape: Shape, { part, ring }: VertexPlace, to: (ring: Ring) => Ring): Shape | null {
  if (shape.kind === 'polyline') return { ...shape, points: to(shape.points) };
  if (shape.kind !== 'polygon' || !shape.parts[part]?.[ring]) return null;
  return {
    ...shape,
    parts: shape.parts.map((rings, number) =>
      number === part ? rings.map((points, place) => (place === ring ? to(points) : points)) : rings,
    ),
  };
}

export const insertVertex = (shape: Shape, place: VertexPlace, at: Point): Shape | null =>
  withRing(shape, place, (ring) => ring.toSpliced(2 * place.index, 0, ...at));

export const moveVertex = (shape: Shape, place: VertexPlace, at: Point): Shape | null =>
  withRing(shape, place, (ring) => ring.toSpliced(2 * place.index, 2, ...at));

/** A hole that is left with two points goes; a border or a line with too few stays as it is. */
export function removeVertex(shape: Shape, place: VertexPlace): Shape | null {
  if (shape.kind === 'polyline' && pointCount(shape.points) <= 2) return null;
  const ring = shape.kind === 'polygon' ? shape.parts[place.part]?.[place.ring] : undefined;
  if (shape.kind === 'polygon' && ring && pointCount(ring) <= 3) return withoutRing(shape, place);
  return withRing(shape, place, (points) => points.toSpliced(2 * place.index, 2));
}

function withoutRing(shape: Extract<Shape, { kind: 'polygon' }>, place: VertexPlace): Shape | null {
  if (place.ring === 0) {
    const parts = shape.parts.filter((_, number) => number !== place.part);
    return parts.length > 0 ? { ...shape, parts } : null;
  }
  return {
    ...shape,
    parts: shape.parts.map((rings, number) =>
      number === place.part ? rings.filter((_, index) => index !== place.ring) : rings,
    ),
  };
}

/** The bounds of several objects; null when none of them is drawn. */
export function boundsOfObjects(objects: readonly AnnotationObject[]): Rect | null {
  const rects = objects.filter(isDrawn).map(boundsOf);
  if (rects.length === 0) return null;
  const left = Math.min(...rects.map(([x]) => x));
  const top = Math.min(...rects.map(([, y]) => y));
  return [
    left,
    top,
    Math.max(...rects.map(([x, , width]) => x + width)) - left,
    Math.max(...rects.map(([, y, , height]) => y + height)) - top,
  ];
}
