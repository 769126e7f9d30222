import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const SRC = normalize(join(import.meta.dirname, '..'));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\.d\.ts$/.test(file),
);
const known = new Set(files);

/** The file below src/ that an import names, or undefined for a package or a style sheet. */
function resolve(from: string, target: string): string | undefined {
  if (!/^(\.|@\/)/.test(target)) return undefined;
  const path = target.startsWith('@/') ? target.slice(2) : normalize(join(dirname(from), target));
  return ['', '.ts', '.tsx', '/index.ts', '/index.tsx'].map((end) => path + end).find((file) => known.has(file));
}

/** Files that a file imports: values, types, re-exports and lazy imports alike. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const targets = [...text.matchAll(/(?:\bfrom|^import|\bimport\()\s*'([^']+)'/gm)].map((match) => match[1] ?? '');
  return [...new Set(targets.map((target) => resolve(file, target)).filter((to) => to !== undefined))];
}

const graph = new Map(files.map((file) => [file, importsOf(file)]));

/** Groups of files that reach each other through imports (Tarjan), each sorted. */
function circles(): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (file: string): number => {
    const number = order.size;
    order.set(file, number);
    stack.push(file);
    let least = number;
    for (const to of graph.get(file) ?? []) {
      if (!order.has(to)) least = Math.min(least, visit(to));
      else if (stack.includes(to)) least = Math.min(least, order.get(to) ?? number);
    }
    low.set(file, least);
    if (least === number) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1) groups.push(group.sort());
    }
    return least;
  };
  for (const file of files) if (!order.has(file)) visit(file);
  return groups.sort();
}

const featureOf = (file: string) => /^features\/([^/]+)/.exec(file)?.[1];

/** Imports of one feature by another, or by a file of shared/, as "from -> to". */
function strayImports(): string[] {
  return [...graph].flatMap(([from, targets]) =>
    targets
      .filter((to) => featureOf(to) && featureOf(to) !== featureOf(from) && /^(features|shared)\//.test(from))
      .map((to) => `${from} -> ${to}`),
  );
}

test('the reader of imports sees the tree', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(graph.get('main.tsx')?.length).toBeGreaterThan(0);
});

test('no feature imports another, and shared/ imports none', () => {
  expect(strayImports()).toEqual([]);
});

test('i18n/ imports nothing but words', () => {
  const others = [...graph].flatMap(([from, targets]) =>
    from.startsWith('i18n/') ? targets.filter((to) => !/^i18n\/|\.(en|zh)\.ts$|^shared\/ui\/stored\.ts$/.test(to)) : [],
  );
  expect(others).toEqual([]);
});

test('no imports run in a circle', () => {
  expect(circles()).toEqual([]);
});
