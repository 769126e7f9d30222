import type { AnnotationObject, DocumentV2, Relation } from './model';

/** RFC 6902, as far as documents need it. */
export type Operation =
  | { op: 'add' | 'replace'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move'; from: string; path: string };
export type Patch = readonly Operation[];

type Json = Record<string, unknown>;
/** More changed entries than this, and the list is sent whole. */
const MAX_ENTRIES = 8;

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
const unescaped = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~');
const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => sameJson(value, other[index]));
  if (!isRecord(one) || !isRecord(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length && keys.every((key) => key in other && sameJson(one[key], other[key]))
  );
}

/** Operations that turn `before` into `after`; the lists of objects and relations are followed by their ids. */
export function patchBetween(before: DocumentV2, after: DocumentV2): Patch {
  const patch: Operation[] = [];
  const { objects: oldObjects, relations: oldRelations, ...oldRest } = before;
  const { objects, relations, ...rest } = after;
  listOfIds('/objects', oldObjects, objects, patch);
  listOfIds('/relations', oldRelations, relations, patch);
  record('', oldRest as Json, rest as Json, patch);
  return patch;
}

type WithId = AnnotationObject | Relation;

function listOfIds(
  path: string,
  before: readonly WithId[] | undefined,
  after: readonly WithId[] | undefined,
  patch: Operation[],
): void {
  if (before === after) return;
  if (before === undefined || after === undefined) {
    value(path, before, after, patch);
    return;
  }
  const kept = new Map(after.map((item) => [item.id, item]));
  const current: WithId[] = [];
  for (let index = before.length - 1; index >= 0; index--) {
    const item = before[index] as WithId;
    if (kept.has(item.id)) current.push(item);
    else patch.push({ op: 'remove', path: `${path}/${index}` });
  }
  current.reverse();
  reorder(path, current, after, patch);
  current.forEach((item, index) => {
    const changed = after[index] as WithId;
    if (item !== changed) record(`${path}/${index}`, item as unknown as Json, changed as unknown as Json, patch);
  });
}

/** Move as few items as can be, and add those that are new: each goes right behind the one before it. */
function reorder(path: string, current: WithId[], after: readonly WithId[], patch: Operation[]): void {
  const places = new Map(current.map((item, index) => [item.id, index]));
  const staying = longestRise(after.flatMap(({ id }) => places.get(id) ?? []));
  const stays = new Set([...staying].map((index) => (current[index] as WithId).id));
  after.forEach((item, index) => {
    if (stays.has(item.id)) return;
    const from = places.has(item.id) ? current.findIndex(({ id }) => id === item.id) : -1;
    const moved = from < 0 ? item : (current.splice(from, 1)[0] as WithId);
    const previous = after[index - 1];
    const to = previous === undefined ? 0 : current.findIndex(({ id }) => id === previous.id) + 1;
    current.splice(to, 0, moved);
    if (from < 0) patch.push({ op: 'add', path: `${path}/${to}`, value: item });
    else patch.push({ op: 'move', from: `${path}/${from}`, path: `${path}/${to}` });
  });
}

/** The values of the longest rising subsequence. */
export function longestRise(values: readonly number[]): ReadonlySet<number> {
  const ends: number[] = [];
  const previous = new Array<number>(values.length);
  values.forEach((entry, index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[ends[middle] as number] as number) < entry) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (ends[low - 1] as number) : -1;
    ends[low] = index;
  });
  const rise = new Set<number>();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number) rise.add(values[index] as number);
  return rise;
}

function record(path: string, before: Json, after: Json, patch: Operation[]): void {
  for (const key of Object.keys(before)) {
    if (after[key] === undefined && before[key] !== undefined)
      patch.push({ op: 'remove', path: `${path}/${escaped(key)}` });
  }
  for (const key of Object.keys(after)) {
    if (after[key] !== undefined) value(`${path}/${escaped(key)}`, before[key], after[key], patch);
  }
}

function value(path: string, before: unknown, after: unknown, patch: Operation[]): void {
  if (before === after) return;
  if (before === undefined) patch.push({ op: 'add', path, value: after });
  else if (after === undefined) patch.push({ op: 'remove', path });
  else if (isRecord(before) && isRecord(after)) record(path, before, after, patch);
  else if (Array.isArray(before) && Array.isArray(after)) list(path, before, after, patch);
  else patch.push({ op: 'replace', path, value: after });
}

function list(path: string, before: readonly unknown[], after: readonly unknown[], patch: Operation[]): void {
  if (sameJson(before, after)) return;
  const entries: Operation[] = [];
  if (before.length === after.length && before.length > 0) {
    for (let index = 0; index < before.length && entries.length <= MAX_ENTRIES; index++)
      value(`${path}/${index}`, before[index], after[index], entries);
    // All of a box at once is shorter than each of its numbers.
    const isWhole = entries.length === before.length && before.every((entry) => typeof entry === 'number');
    if (entries.length <= MAX_ENTRIES && !isWhole) {
      patch.push(...entries);
      return;
    }
  }
  patch.push({ op: 'replace', path, value: after });
}

/** A patch that does not fit its document. */
export class PatchError extends Error {}

/** Only what lies on the way to a change is copied. */
export function applyPatch(document: DocumentV2, patch: Patch): DocumentV2 {
  return patch.reduce<unknown>(applyOperation, document) as DocumentV2;
}

function applyOperation(document: unknown, operation: Operation): unknown {
  switch (operation.op) {
    case 'add':
    case 'replace':
      return changed(document, tokens(operation.path), operation.op, operation.value);
    case 'remove':
      return changed(document, tokens(operation.path), 'remove');
    case 'move': {
      const item = tokens(operation.from).reduce(child, document);
      const rest = changed(document, tokens(operation.from), 'remove');
      return changed(rest, tokens(operation.path), 'add', item);
    }
  }
}

const tokens = (path: string): string[] => path.split('/').slice(1).map(unescaped);

function child(container: unknown, token: string): unknown {
  const item = Array.isArray(container) ? container[Number(token)] : isRecord(container) ? container[token] : undefined;
  if (item === undefined) throw new PatchError(`nothing stands at "${token}"`);
  return item;
}

function changed(
  container: unknown,
  path: readonly string[],
  op: 'add' | 'replace' | 'remove',
  item?: unknown,
): unknown {
  const [token, ...rest] = path;
  if (token === undefined) return item;
  if (rest.length > 0) return setAt(container, token, changed(child(container, token), rest, op, item));
  if (op !== 'add') child(container, token);
  if (Array.isArray(container)) {
    const index = token === '-' ? container.length : Number(token);
    const copy = [...container];
    if (op === 'replace') copy[index] = item;
    else if (op === 'add') copy.splice(index, 0, item);
    else copy.splice(index, 1);
    return copy;
  }
  if (op !== 'remove') return setAt(container, token, item);
  const { [token]: _, ...others } = container as Json;
  return others;
}

function setAt(container: unknown, token: string, item: unknown): unknown {
  if (Array.isArray(container)) return container.map((entry, index) => (index === Number(token) ? item : entry));
  if (isRecord(container)) return { ...container, [token]: item };
  throw new PatchError(`nothing stands at "${token}"`);
}
