export interface AttributeRow {
  name: string;
  value: string;
}

/** A value as it was typed: JSON where it is JSON, else text; nothing removes the attribute. */
function typed(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The JSON merge patch that the rows mean; null while none names an attribute. */
export function patchOf(rows: readonly AttributeRow[]): Record<string, unknown> | null {
  const named = rows.filter(({ name }) => name.trim() !== '');
  if (named.length === 0) return null;
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), typed(value)]));
}

/** Whether a value was begun as JSON and is none: most likely a slip, and not meant as text. */
function isCutJson(text: string): boolean {
  return /^\s*[[{"]/.test(text) && typed(text) === text;
}

type Wrong = 'attributeMissing' | 'attributeTwice' | 'attributeCutJson';

/** The errors of the rows, by their number. */
export function rowErrors(rows: readonly AttributeRow[]): Record<number, Wrong> {
  const wrong: Record<number, Wrong> = {};
  const names = rows.map(({ name }) => name.trim());
  names.forEach((name, index) => {
    if (name === '') wrong[index] = 'attributeMissing';
    else if (names.indexOf(name) < index) wrong[index] = 'attributeTwice';
    else if (isCutJson(rows[index]?.value ?? '')) wrong[index] = 'attributeCutJson';
  });
  return wrong;
}
