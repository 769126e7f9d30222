import { expect, test } from 'vitest';
import { isSame, type PatchStep, patchBetween } from './jsonPatch';

type Node = Record<string, unknown> | unknown[];

/** Applies a patch as RFC 6902 has it, without regard to how the patch came about. */
function applied(value: unknown, steps: readonly PatchStep[]): unknown {
  let root = structuredClone(value);
  const parentOf = (path: string): [Node, string] => {
    const keys = path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() as string;
    return [keys.reduce((node, key) => (node as Record<string, Node>)[key] as Node, root as Node), last];
  };
  const take = (path: string): unknown => {
    const [parent, key] = parentOf(path);
    if (Array.isArray(parent)) return parent.splice(Number(key), 1)[0];
    const taken = parent[key];
    delete parent[key];
    return taken;
  };
  const put = (path: string, next: unknown) => {
    const [parent, key] = parentOf(path);
    if (Array.isArray(parent)) parent.splice(Number(key), 0, next);
    else parent[key] = next;
  };
  for (const step of steps) {
    if (step.op === 'move') put(step.path, take(step.from));
    else if (step.op === 'remove') take(step.path);
    else if (step.path === '') root = step.value;
    else {
      if (step.op === 'replace') take(step.path);
      put(step.path, step.value);
    }
  }
  return root;
}

const box = (id: string, x: number, extra: object = {}) => ({ id, kind: 'box', label: 1, box: [x, 0, 5, 5], ...extra });
const picture = (...objects: object[]) => ({ version: 2, width: 64, height: 48, objects });

test('a moved box is one step that names its numbers', () => {
  const steps = patchBetween(picture(box('a', 1), box('b', 2)), picture(box('a', 1), box('b', 9)));
  expect(steps).toEqual([{ op: 'replace', path: '/objects/1/box', value: [9, 0, 5, 5] }]);
});

test('an object that goes takes only itself', () => {
  const steps = patchBetween(picture(box('a', 1), box('b', 2), box('c', 3)), picture(box('a', 1), box('c', 3)));
  expect(steps).toEqual([{ op: 'remove', path: '/objects/1' }]);
});

test('a new order moves objects and does not write them anew', () => {
  const steps = patchBetween(
    picture(box('a', 1), box('b', 2), box('c', 3)),
    picture(box('c', 3), box('a', 1), box('b', 2)),
  );
  expect(steps).toEqual([{ op: 'move', from: '/objects/2', path: '/objects/0' }]);
});

test('keys with slashes and tildes are escaped', () => {
  expect(patchBetween({ 'a/b': 1, 'c~d': 1 }, { 'a/b': 2 })).toEqual([
    { op: 'remove', path: '/c~0d' },
    { op: 'replace', path: '/a~1b', value: 2 },
  ]);
});

test('equal values need no step, whatever the order of their keys', () => {
  expect(patchBetween({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 })).toEqual([]);
  expect(isSame({ a: undefined }, {})).toBe(false);
});

test('whatever is drawn, moved, ordered and removed, the patch leads from one document to the other', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const some = () => {
    const ids = Array.from({ length: 8 }, (_, n) => `o${n}`).filter(() => random(3) > 0);
    ids.sort(() => random(3) - 1);
    const objects = ids.map((id) => box(id, random(4), random(2) ? { attributes: { [random(3)]: random(5) } } : {}));
    return { ...picture(...objects), ...(random(2) ? { labels: [random(3)] } : {}) };
  };
  for (let round = 0; round < 300; round++) {
    const [before, after] = [some(), some()];
    expect(applied(before, patchBetween(before, after))).toEqual(after);
  }
});
