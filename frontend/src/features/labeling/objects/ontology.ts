import { canonicalDocument, canonicalObject, objectsOf } from '../canvas/model';
import {
  type Attribute,
  type Attributes,
  type AttributeValue,
  type DocumentV2,
  type Ontology,
  type OntologyLabel,
  SHAPE_KINDS,
  type ShapeKind,
} from './types';

/** Old labels have no tools: they are classes of a whole picture. */
export const toolsOf = ({ tools }: OntologyLabel): readonly string[] => tools ?? ['classification'];

export const isPictureClass = (label: OntologyLabel): boolean => toolsOf(label).includes('classification');

/** Whether a task of objects asks for classes of whole pictures only, so that many pictures can be answered at once. */
export function asksOnlyClasses({ labels, schema }: Ontology): boolean {
  const attributes = [...(schema?.attributes ?? []), ...labels.flatMap((label) => label.attributes ?? [])];
  const drawsNothing = labels.every((label) => toolsOf(label).every((tool) => tool === 'classification'));
  return labels.length > 0 && drawsNothing && !attributes.some(({ required }) => required);
}

/** The kinds that any label can be drawn with, in the order of the tool bar. */
export function kindsOf({ labels }: Ontology): ShapeKind[] {
  const used = new Set(labels.flatMap(toolsOf));
  return SHAPE_KINDS.filter((kind) => used.has(kind));
}

/** The kinds that one label can be drawn with. */
export const kindsOfLabel = (label: OntologyLabel): ShapeKind[] =>
  SHAPE_KINDS.filter((kind) => toolsOf(label).includes(kind));

/** The label and those above it, from the top; a circle ends where it closes. */
function lineOf(id: number, labels: readonly OntologyLabel[]): OntologyLabel[] {
  const line: OntologyLabel[] = [];
  let label = labels.find((one) => one.id === id);
  while (label && !line.includes(label)) {
    line.unshift(label);
    const parent: number | null = label.parent ?? null;
    label = parent === null ? undefined : labels.find((one) => one.id === parent);
  }
  return line;
}

/** The attributes of a label; those of its parents come first. */
export const attributesOf = (id: number, labels: readonly OntologyLabel[]): Attribute[] =>
  lineOf(id, labels).flatMap(({ attributes }) => attributes ?? []);

const listOf = (value: AttributeValue | undefined): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** Whether an attribute is asked for, by the values of the others. */
export function isAsked({ when }: Attribute, values: Attributes): boolean {
  if (!when) return true;
  const chosen = listOf(values[String(when.attribute)]);
  const wants: readonly unknown[] = when.is;
  // A flag that was never set is off.
  if (chosen.length === 0) return wants.includes(false);
  return chosen.some((value) => wants.includes(value));
}

/** The attributes that are asked for, in their order. One that hangs on a hidden one is hidden, too. */
export function askedOf(attributes: readonly Attribute[], values: Attributes): Attribute[] {
  const asked = new Set<number>();
  for (const attribute of attributes) {
    const { when } = attribute;
    const isReachable = !when || asked.has(when.attribute) || attributes.every(({ id }) => id !== when.attribute);
    if (isReachable && isAsked(attribute, values)) asked.add(attribute.id);
  }
  return attributes.filter(({ id }) => asked.has(id));
}

const isEmpty = (value: AttributeValue | undefined): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Required attributes that have no value. */
export function missingOf(attributes: readonly Attribute[], values: Attributes = {}): Attribute[] {
  return askedOf(attributes, values).filter(({ id, required }) => required && isEmpty(values[String(id)]));
}

/** A required value that a document lacks: of an object, or of the picture (null). */
export interface Missing {
  object: string | null;
  attribute: Attribute;
}

export function missingInDocument(document: DocumentV2, { labels, schema }: Ontology): Missing[] {
  const ofObjects = objectsOf(document).flatMap(({ id, label, attributes }) =>
    missingOf(attributesOf(label, labels), attributes).map((attribute) => ({ object: id, attribute })),
  );
  const ofPicture = missingOf(schema?.attributes ?? [], document.attributes);
  return [...ofObjects, ...ofPicture.map((attribute) => ({ object: null, attribute }))];
}

function askedValues(attributes: readonly Attribute[], values: Attributes): Attributes {
  const asked = new Set(askedOf(attributes, values).map(({ id }) => String(id)));
  const entries = Object.entries(values);
  const kept = entries.filter(([key]) => asked.has(key));
  return kept.length === entries.length ? values : Object.fromEntries(kept);
}

/** The document to submit: without values that are not asked for any more. */
export function withoutUnasked(document: DocumentV2, { labels, schema }: Ontology): DocumentV2 {
  const objects = objectsOf(document).map((object) => {
    if (!object.attributes) return object;
    return canonicalObject({
      ...object,
      attributes: askedValues(attributesOf(object.label, labels), object.attributes),
    });
  });
  const attributes = document.attributes && askedValues(schema?.attributes ?? [], document.attributes);
  return canonicalDocument({ ...document, objects, attributes });
}

/** A row of the tree of labels. */
export interface LabelRow {
  label: OntologyLabel;
  depth: number;
}

/** Labels as a tree, depth first; `query` keeps those whose own name or a parent's has it. */
export function labelTree(labels: readonly OntologyLabel[], query = ''): LabelRow[] {
  const wanted = query.trim().toLowerCase();
  const known = new Set(labels.map(({ id }) => id));
  const under = new Map<number | null, OntologyLabel[]>();
  for (const label of labels) {
    const parent = label.parent ?? null;
    const key = parent !== null && known.has(parent) ? parent : null;
    under.set(key, [...(under.get(key) ?? []), label]);
  }
  const rows: LabelRow[] = [];
  const visit = (parent: number | null, depth: number) => {
    for (const label of under.get(parent) ?? []) {
      rows.push({ label, depth });
      visit(label.id, depth + 1);
    }
  };
  visit(null, 0);
  if (!wanted) return rows;
  const matches = (id: number) => lineOf(id, labels).some(({ name }) => name.toLowerCase().includes(wanted));
  return rows.filter(({ label }) => matches(label.id));
}

/** The ontology of a task, as its version has it. */
export const ontologyOfTask = (task: { labels: readonly unknown[]; schema?: unknown }): Ontology => ({
  labels: task.labels as OntologyLabel[],
  schema: (task.schema ?? {}) as Ontology['schema'],
});
