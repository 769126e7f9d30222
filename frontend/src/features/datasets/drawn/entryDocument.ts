import type { Annotations } from '@/api/contract/datasets';
import type { NamedDocument, NamedObject } from '@/shared/domain/drawn/shapes';

const GEOMETRY = ['box', 'parts', 'points', 'rle'] as const;

type Drawn = Partial<NamedObject> & { bounds?: number[] };

/** Lists carry the bounds of an object without its geometry: then those are drawn. */
function objectOf(raw: Drawn): NamedObject {
  const { id = '', label = '', kind = 'box', bounds, ...rest } = raw;
  if (!bounds || GEOMETRY.some((field) => raw[field] !== undefined)) return { ...rest, id, label, kind };
  const [, , width = 0, height = 0] = bounds;
  // A box without an area cannot be seen.
  if (width === 0 && height === 0) return { ...rest, id, label, kind: 'point', points: bounds.slice(0, 2) };
  return { ...rest, id, label, kind: 'box', box: bounds };
}

/** The annotations of a file as the overlay draws them. */
export const documentOf = ({ width, height, labels, attributes, objects }: Annotations): NamedDocument => ({
  width,
  height,
  labels,
  attributes,
  objects: objects.map((object) => objectOf(object as Drawn)),
});
