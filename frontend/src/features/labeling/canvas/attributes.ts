import type { Attribute, Attributes, AttributeValue, Ontology } from './model';
import { labelOf } from './tools/tool';

/** A label's own attributes and those of the labels above it. */
export function attributesOf(ontology: Ontology, label: number): readonly Attribute[] {
  const own: Attribute[] = [];
  const seen = new Set<number>();
  for (let id: number | null = label; id !== null && !seen.has(id); ) {
    seen.add(id);
    const here = labelOf(ontology, id);
    own.push(...(here?.attributes ?? []));
    id = here?.parent ?? null;
  }
  return own;
}

export const keptAttributes = (ontology: Ontology, label: number): number[] =>
  attributesOf(ontology, label).map(({ id }) => id);

/** Whether an attribute may be asked for: its condition holds among the other values. */
export function applies(attribute: Attribute, values: Attributes): boolean {
  if (!attribute.when) return true;
  const value = values[String(attribute.when.attribute)];
  if (value === undefined) return false;
  const chosen = Array.isArray(value) ? value : [value];
  return attribute.when.is.some((wanted) => chosen.includes(wanted));
}

/** The values that a new object of a label starts with. */
export function defaultsOf(ontology: Ontology, label: number): Attributes {
  const values: Record<string, AttributeValue> = {};
  for (const attribute of attributesOf(ontology, label))
    if (attribute.default !== null && attribute.default !== undefined && applies(attribute, values))
      values[String(attribute.id)] = attribute.default;
  return values;
}
