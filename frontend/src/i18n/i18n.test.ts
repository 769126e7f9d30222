import { expect, test } from 'vitest';
import en from './en';
import zh from './zh';

/** Every dotted key, with plural endings folded: Chinese needs only `_other`. */
function keys(tree: object, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = prefix + key.replace(/_(one|other)$/, '');
    return typeof value === 'string' ? [path] : keys(value as object, `${path}.`);
  });
}

const leaves = (tree: object, prefix = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[prefix + key, value] as [string, string]]
      : leaves(value as object, `${prefix + key}.`),
  );
const placeholders = (text: string) => [...text.matchAll(/{{(\w+)/g)].map((match) => match[1]).sort();

test('English and Chinese have the same keys', () => {
  expect([...new Set(keys(zh))].sort()).toEqual([...new Set(keys(en))].sort());
});

test('every text is filled in', () => {
  const empty = [...leaves(en), ...leaves(zh)].filter(([, text]) => text.trim() === '');
  expect(empty).toEqual([]);
});

test('what is counted has a singular', () => {
  const always = leaves(en).filter(
    ([key, text]) => /{{count[^}]*}} [a-z]+s\b/.test(text) && !/_(one|other)$/.test(key),
  );
  expect(always).toEqual([]);
});

test('a translation names the same placeholders', () => {
  const chinese = new Map(leaves(zh));
  const wrong = leaves(en).filter(([key, text]) => {
    const other = chinese.get(key);
    return other !== undefined && placeholders(other).join() !== placeholders(text).join();
  });
  expect(wrong).toEqual([]);
});
