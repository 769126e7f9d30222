/** Kinds of shapes on a picture. */
export const SHAPE_KINDS = ['box', 'rotated_box', 'polygon', 'polyline', 'point', 'keypoints', 'mask'] as const;
export type ShapeKind = (typeof SHAPE_KINDS)[number];

export type AttributeValue = number | string | boolean | number[];
export type AttributeValues = Readonly<Record<string, AttributeValue>>;

/** An object of a document; its geometry belongs to the canvas. */
export interface DrawnObject {
  id: string;
  label: number;
  kind: string;
  attributes?: AttributeValues;
  ignore?: boolean;
  text?: string;
  track?: string;
}

export interface Relation {
  id: string;
  relation: number;
  from: string;
  to: string;
}

/** A picture's document as drafts and revisions hold it. */
export interface DocumentV2 {
  version: 2;
  width: number;
  height: number;
  labels?: number[];
  attributes?: AttributeValues;
  objects: DrawnObject[];
  relations?: Relation[];
}

export const ATTRIBUTE_KINDS = ['choice', 'number', 'text', 'flag'] as const;

export interface Choice {
  id: number;
  name: string;
}

export interface Attribute {
  id: number;
  name: string;
  kind: (typeof ATTRIBUTE_KINDS)[number];
  required?: boolean;
  default?: AttributeValue | null;
  choices?: Choice[];
  multiple?: boolean;
  min?: number | null;
  max?: number | null;
  step?: number | null;
  pattern?: string | null;
  max_length?: number | null;
  per_frame?: boolean;
  when?: { attribute: number; is: (number | boolean)[] } | null;
}

export interface Skeleton {
  points: { name: string }[];
  edges: [number, number][];
  flips?: [number, number][];
  sigmas?: number[] | null;
}

export interface OntologyLabel {
  id: number;
  name: string;
  color: string;
  hotkey: string;
  parent?: number | null;
  tools?: string[];
  attributes?: Attribute[];
  skeleton?: Skeleton | null;
  ignore?: boolean;
}

export interface RelationKind {
  id: number;
  name: string;
  from?: number[] | null;
  to?: number[] | null;
}

export interface OntologySchema {
  multiple?: boolean;
  attributes?: Attribute[];
  relations?: RelationKind[];
}

export interface Ontology {
  labels: readonly OntologyLabel[];
  schema: OntologySchema;
}
