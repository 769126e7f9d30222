import type { Ontology, ShapeKind } from '../canvas/model';

export type {
  AnnotationObject,
  Attribute,
  Attributes,
  AttributeValue,
  DocumentV2,
  Ontology,
  OntologyLabel,
  ShapeKind,
  Skeleton,
} from '../canvas/model';

export type OntologySchema = NonNullable<Ontology['schema']>;

/** Kinds of shapes on a picture, in the order of menus. */
export const SHAPE_KINDS: readonly ShapeKind[] = [
  'box',
  'rotated_box',
  'polygon',
  'polyline',
  'point',
  'keypoints',
  'mask',
];

export const ATTRIBUTE_KINDS = ['choice', 'number', 'text', 'flag'] as const;
