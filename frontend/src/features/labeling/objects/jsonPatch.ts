/** One step of a JSON Patch (RFC 6902). */
export type PatchStep =
  | { op: 'add' | 'replace'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move'; from: string; path: string };

type Json = Readonly<Record<string, unknown>>;

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const idOf = (value: unknown): unknown => (isRecord(value) ? value.id : undefined);
const haveIds = (list: readonly unknown[]) => list.every((one) => typeof idOf(one) === 'string');

export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
  if (!isRecord(one) || !isRecord(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => key in other && isSame(one[key], other[key]));
}

/** The steps from one JSON value to another. Lists whose members have ids are changed member by member. */
export function patchBetween(before: unknown, after: unknown, path = ''): PatchStep[] {
  if (isSame(before, after)) return [];
  if (isRecord(before) && isRecord(after)) return betweenRecords(before, after, path);
  if (Array.isArray(before) && Array.isArray(after) && haveIds(before) && haveIds(after))
    return betweenLists(before, after, path);
  return [{ op: 'replace', path, value: after }];
}

function betweenRecords(before: Json, after: Json, path: string): PatchStep[] {
  const gone = Object.keys(before).filter((key) => !(key in after));
  return [
    ...gone.map((key): PatchStep => ({ op: 'remove', path: `${path}/${escaped(key)}` })),
    ...Object.entries(after).flatMap(([key, value]): PatchStep[] => {
      const at = `${path}/${escaped(key)}`;
      return key in before ? patchBetween(before[key], value, at) : [{ op: 'add', path: at, value }];
    }),
  ];
}

function betweenLists(before: readonly unknown[], after: readonly unknown[], path: string): PatchStep[] {
  const steps: PatchStep[] = [];
  const kept = new Set(after.map(idOf));
  const list = [...before];
  for (let index = list.length - 1; index >= 0; index--)
    if (!kept.has(idOf(list[index]))) {
      steps.push({ op: 'remove', path: `${path}/${index}` });
      list.splice(index, 1);
    }
  after.forEach((value, index) => {
    const at = `${path}/${index}`;
    if (idOf(list[index]) !== idOf(value)) {
      const from = list.findIndex((one) => idOf(one) === idOf(value));
      if (from < 0) {
        steps.push({ op: 'add', path: at, value });
        list.splice(index, 0, value);
        return;
      }
      steps.push({ op: 'move', from: `${path}/${from}`, path: at });
      list.splice(index, 0, ...list.splice(from, 1));
    }
    steps.push(...patchBetween(list[index], value, at));
  });
  return steps;
}
