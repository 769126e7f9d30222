import type { NewLabelTask } from '@/api/contract/labeling';
import type { RelationKind } from '../canvas/model';
import { paletteColor } from '../labels';
import type { Attribute, OntologyLabel, OntologySchema, Skeleton } from '../objects/types';

export type Tool = NonNullable<OntologyLabel['tools']>[number];

/** A class in the form: its identity is kept while its name changes. */
export interface LabelDraft {
  id: number;
  name: string;
  color: string;
  hotkey: string;
  parent: number | null;
  tools: Tool[];
  attributes: Attribute[];
  skeleton: Skeleton | null;
  ignore: boolean;
}

export interface Template {
  key: string;
  labels: OntologyLabel[];
  schema: OntologySchema;
  guideline: string;
}

const nextId = (ids: readonly number[]) => Math.max(0, ...ids) + 1;

export function newLabel(labels: readonly LabelDraft[], extra: Partial<LabelDraft> = {}): LabelDraft {
  return {
    id: nextId(labels.map(({ id }) => id)),
    name: '',
    color: paletteColor(labels.length),
    hotkey: '',
    parent: null,
    tools: ['box'],
    attributes: [],
    skeleton: null,
    ignore: false,
    ...extra,
  };
}

export const asDraft = (label: OntologyLabel): LabelDraft => ({
  id: label.id,
  name: label.name,
  color: label.color,
  hotkey: label.hotkey ?? '',
  parent: label.parent ?? null,
  tools: [...(label.tools ?? ['box'])],
  attributes: [...(label.attributes ?? [])],
  skeleton: label.skeleton ?? null,
  ignore: label.ignore ?? false,
});

/** Ids of attributes are one series in an ontology. */
export function newAttribute(labels: readonly LabelDraft[], ofPicture: readonly Attribute[]): Attribute {
  const all = [...ofPicture, ...labels.flatMap(({ attributes }) => attributes)];
  return { id: nextId(all.map(({ id }) => id)), name: '', kind: 'choice', required: false, choices: [] };
}

/** The choices of an attribute by their names; a name that stays keeps its id. */
export function withChoices(attribute: Attribute, names: readonly string[]): Attribute {
  const before = attribute.choices ?? [];
  let last = Math.max(0, ...before.map(({ id }) => id));
  const choices = names.map((name) => before.find((choice) => choice.name === name) ?? { id: ++last, name });
  return { ...attribute, choices };
}

/** Labels that may stand above a label: neither itself nor those below it. */
export function possibleParents(label: LabelDraft, labels: readonly LabelDraft[]): LabelDraft[] {
  const isBelow = (one: LabelDraft): boolean => {
    const seen = new Set<number>();
    let at: LabelDraft | undefined = one;
    while (at && !seen.has(at.id)) {
      if (at.id === label.id) return true;
      seen.add(at.id);
      const parent: number | null = at.parent;
      at = labels.find(({ id }) => id === parent);
    }
    return false;
  };
  return labels.filter((one) => !isBelow(one));
}

export const withoutLabel = (labels: readonly LabelDraft[], id: number): LabelDraft[] =>
  labels.filter((label) => label.id !== id).map((label) => (label.parent === id ? { ...label, parent: null } : label));

const without = (ids: readonly number[] | null | undefined, id: number) => ids?.filter((one) => one !== id) ?? null;

/** Relations without a label that was removed; a relation that had no other label at one end goes with it. */
export function withoutEnd(schema: OntologySchema, id: number): OntologySchema {
  if (!schema.relations) return schema;
  const relations = schema.relations
    .map((relation) => ({ ...relation, from: without(relation.from, id), to: without(relation.to, id) }))
    .filter(({ from, to }) => from?.length !== 0 && to?.length !== 0);
  return { ...schema, relations };
}

export const newRelation = (relations: readonly RelationKind[]): RelationKind => ({
  id: nextId(relations.map(({ id }) => id)),
  name: '',
  from: null,
  to: null,
});

/** A skeleton whose points are these; edges of points that are gone go with them. */
export function withPoints(skeleton: Skeleton | null, names: readonly string[]): Skeleton | null {
  if (names.length === 0) return null;
  const before = skeleton?.points ?? [];
  const placeOf = (old: number) => names.indexOf(before[old]?.name ?? '');
  const moved = (pairs: readonly (readonly [number, number])[] = []) =>
    pairs
      .map(([from, to]): [number, number] => [placeOf(from), placeOf(to)])
      .filter(([from, to]) => from >= 0 && to >= 0);
  return { points: names.map((name) => ({ name })), edges: moved(skeleton?.edges), flips: moved(skeleton?.flips) };
}

const text = (value: string | null | undefined) => (value ? value : undefined);

/** An attribute as the server takes it: fields of other kinds are left out. */
function cleanAttribute(attribute: Attribute): Attribute {
  const { id, name, kind, required, when, default: usual, per_frame } = attribute;
  const more = { ...(when && { when }), ...(usual != null && { default: usual }), ...(per_frame && { per_frame }) };
  const base = { id, name: name.trim(), kind, required: required ?? false, ...more };
  if (kind === 'choice') return { ...base, choices: attribute.choices ?? [], multiple: attribute.multiple ?? false };
  if (kind === 'number') return { ...base, min: attribute.min, max: attribute.max, step: attribute.step };
  if (kind === 'text') return { ...base, pattern: text(attribute.pattern), max_length: attribute.max_length };
  return base;
}

/** The ontology of the form as the server takes it: its own types name mutable lists. */
export function ontologyOf(
  labels: readonly LabelDraft[],
  schema: OntologySchema,
): Required<Pick<NewLabelTask, 'labels' | 'schema'>> {
  const ontology = {
    labels: labels.map((label) => ({
      ...label,
      name: label.name.trim(),
      attributes: label.attributes.map(cleanAttribute),
      skeleton: label.tools.includes('keypoints') ? label.skeleton : null,
    })),
    schema: {
      ...schema,
      attributes: (schema.attributes ?? []).map(cleanAttribute),
      ...(schema.relations && { relations: schema.relations.map((one) => ({ ...one, name: one.name.trim() })) }),
    },
  };
  return ontology as unknown as ReturnType<typeof ontologyOf>;
}
