import { expect, test } from 'vitest';
import en from './en';
import first from './en.first';

/** All sources by their path below `src`, without tests. */
const sources = Object.fromEntries(
  Object.entries(import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true }))
    .map(([path, text]) => [path.replace('../', '').replace(/^\.\//, 'i18n/'), text] as const)
    .filter(([path]) => !path.includes('.test.')),
);
const IMPORT = /(?:^|\n)(?:import|export)\s(?!type\s)[^;]*?from\s+'([^']+)'|(?:^|\n)import\s+'([^']+)'/g;
const LAZY = /import\(\s*'([^']+)'\s*\)/g;
const WORDS = /addWords\(\{([^}]*)\}\)/g;

/** The source that `from` means by `name`; undefined for a package. */
function resolve(from: string, name: string): string | undefined {
  const parts = name.startsWith('@/') ? [] : from.split('/').slice(0, -1);
  if (!name.startsWith('@/') && !name.startsWith('.')) return undefined;
  for (const part of name.replace(/^@\//, '').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  const path = parts.join('/');
  return ['', '.ts', '.tsx', '/index.ts', '/index.tsx'].map((end) => path + end).find((one) => one in sources);
}

/** All that comes with a source when it is loaded. */
function closure(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found;
  found.add(entry);
  for (const match of sources[entry]?.matchAll(IMPORT) ?? []) {
    const next = resolve(entry, match[1] ?? match[2] ?? '');
    if (next) closure(next, found);
  }
  return found;
}

const lazy = Object.entries(sources).flatMap(([path, text]) =>
  [...text.matchAll(LAZY)].map((match) => resolve(path, match[1] ?? '')),
);
const entries = [...new Set(lazy)].filter((path): path is string => path !== undefined && !path.startsWith('i18n/'));

/** Names of groups of words that a source says something of. */
function said(text: string): string[] {
  return Object.entries(en)
    .filter(([group, words]) =>
      [...text.matchAll(new RegExp(`['"\`]${group}\\.(\\w+)`, 'g'))].some(([, key]) =>
        [key, `${key}_other`].some((name) => (name ?? '') in words),
      ),
    )
    .map(([group]) => group);
}

test('there are pages that are loaded when they are needed', () => {
  expect(entries.length).toBeGreaterThan(15);
  expect(said("t('datasets.title')")).toEqual(['datasets']);
});

const closures = new Map(['main.tsx', ...entries].map((entry) => [entry, closure(entry)]));

/** Groups that are there when an entry is shown: its own, and those of whichever entry it is loaded from. */
function there(entry: string, seen: string[] = []): Set<string> {
  if (entry === 'main.tsx') return new Set(Object.keys(first));
  const own = [...(closures.get(entry) ?? [])].flatMap((path) =>
    [...(sources[path]?.matchAll(WORDS) ?? [])].flatMap(([, names]) =>
      (names ?? '').split(',').map((name) => name.trim()),
    ),
  );
  const loads = (path: string) =>
    [...(sources[path]?.matchAll(LAZY) ?? [])].some((match) => resolve(path, match[1] ?? '') === entry);
  const before = [...closures]
    .filter(([one, paths]) => one !== entry && !seen.includes(one) && [...paths].some(loads))
    .map(([one]) => there(one, [...seen, entry]));
  const inAll = [...(before[0] ?? [])].filter((group) => before.every((one) => one.has(group)));
  return new Set([...inAll, ...own]);
}

test.each([...closures])('%s comes with its words', (entry, paths) => {
  const texts = [...paths].filter((path) => !path.startsWith('i18n/')).map((path) => sources[path] ?? '');
  const groups = there(entry);
  expect([...new Set(texts.flatMap(said))].filter((group) => !groups.has(group))).toEqual([]);
});
