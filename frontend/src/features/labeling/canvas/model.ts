/** Documents and ontologies as the server keeps them: JSON, never changed in place. */

/** x, y, width, height; the origin is the outer corner of the top-left pixel. */
export type Rect = readonly [number, number, number, number];
export type Point = readonly [number, number];
/** x1, y1, x2, y2 …, not closed. */
export type Ring = readonly number[];
/** The first ring is the outer border, the others are holes. */
export type Part = readonly Ring[];

export interface BoxShape {
  kind: 'box';
  box: Rect;
}
export interface RotatedBoxShape {
  kind: 'rotated_box';
  /** Centre x, centre y, width, height. */
  box: Rect;
  /** Degrees, clockwise on the screen, 0 <= angle < 360. */
  angle: number;
}
export interface PolygonShape {
  kind: 'polygon';
  parts: readonly Part[];
}
export interface PolylineShape {
  kind: 'polyline';
  points: readonly number[];
}
export interface PointShape {
  kind: 'point';
  points: Point;
}
export interface KeypointsShape {
  kind: 'keypoints';
  /** x, y, v … in the skeleton's order; v: 0 absent, 1 hidden, 2 visible. */
  points: readonly number[];
  box?: Rect;
}
export interface MaskShape {
  kind: 'mask';
  rle: { size: readonly [height: number, width: number]; counts: string };
}

/** Everything that a canvas shows and edits. */
export type Shape = BoxShape | RotatedBoxShape | PolygonShape | PolylineShape | PointShape | KeypointsShape | MaskShape;
export type ShapeKind = Shape['kind'];

export type Keyframe = Shape & {
  frame: number;
  outside?: boolean;
  occluded?: boolean;
  attributes?: Attributes;
};
/** Shapes in time or text: a picture's canvas carries them along and does not draw them. */
export interface TrackShape {
  kind: 'track';
  keyframes: readonly Keyframe[];
}
export interface SegmentShape {
  kind: 'segment';
  range: readonly [number, number];
}
export interface SpanShape {
  kind: 'span';
  range: readonly [number, number];
  part?: string;
}
export type AnyShape = Shape | TrackShape | SegmentShape | SpanShape;
export type Kind = AnyShape['kind'];

/** A choice's id, several choices' ids, a number, a text or a flag. */
export type AttributeValue = number | string | boolean | readonly number[];
/** By the attribute's id as text. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

interface Common {
  id: string;
  label: number;
  attributes?: Attributes;
  ignore?: boolean;
  text?: string;
  track?: string;
}
export type AnnotationObject = Readonly<Common & AnyShape>;
export type DrawnObject = Readonly<Common & Shape>;

export interface Relation {
  readonly id: string;
  readonly relation: number;
  readonly from: string;
  readonly to: string;
}

export interface DocumentV2 {
  readonly version: 2;
  readonly width: number;
  readonly height: number;
  readonly labels?: readonly number[];
  readonly attributes?: Attributes;
  /** The last one lies on top. */
  readonly objects?: readonly AnnotationObject[];
  readonly relations?: readonly Relation[];
}

export interface Skeleton {
  points: readonly { name: string }[];
  edges: readonly (readonly [number, number])[];
  flips?: readonly (readonly [number, number])[];
  sigmas?: readonly number[] | null;
}

export interface Attribute {
  id: number;
  name: string;
  kind: 'choice' | 'number' | 'text' | 'flag';
  required?: boolean;
  default?: AttributeValue | null;
  choices?: readonly { id: number; name: string }[];
  multiple?: boolean;
  min?: number | null;
  max?: number | null;
  step?: number | null;
  pattern?: string | null;
  max_length?: number | null;
  per_frame?: boolean;
  when?: { attribute: number; is: readonly (number | boolean)[] } | null;
}

export interface OntologyLabel {
  id: number;
  name: string;
  color: string;
  hotkey?: string;
  parent?: number | null;
  tools?: readonly ('classification' | Kind)[];
  attributes?: readonly Attribute[];
  skeleton?: Skeleton | null;
  ignore?: boolean;
}

export interface RelationKind {
  id: number;
  name: string;
  from?: readonly number[] | null;
  to?: readonly number[] | null;
}

export interface Ontology {
  labels: readonly OntologyLabel[];
  schema?: {
    multiple?: boolean;
    attributes?: readonly Attribute[];
    relations?: readonly RelationKind[];
  };
}

const DRAWN: ReadonlySet<string> = new Set<ShapeKind>([
  'box',
  'rotated_box',
  'polygon',
  'polyline',
  'point',
  'keypoints',
  'mask',
]);

export const isDrawn = (object: AnnotationObject): object is DrawnObject => DRAWN.has(object.kind);

export const objectsOf = (document: DocumentV2): readonly AnnotationObject[] => document.objects ?? [];
export const relationsOf = (document: DocumentV2): readonly Relation[] => document.relations ?? [];

export const emptyDocument = (width: number, height: number): DocumentV2 => ({ version: 2, width, height });

/** 8 random bytes in lower-case hex. */
export function newObjectId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

type Loose = Record<string, unknown>;
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0);

function without(record: Loose, fields: readonly string[]): Loose {
  const kept = { ...record };
  for (const field of fields) if (isEmpty(kept[field])) delete kept[field];
  return kept;
}

/** The canonical form leaves out fields that hold their default. */
export const canonicalObject = (object: AnnotationObject): AnnotationObject =>
  without(object as unknown as Loose, ['attributes', 'ignore', 'text', 'track', 'box']) as unknown as AnnotationObject;

export const canonicalDocument = (document: DocumentV2): DocumentV2 =>
  without(document as unknown as Loose, ['labels', 'attributes', 'objects', 'relations']) as unknown as DocumentV2;
