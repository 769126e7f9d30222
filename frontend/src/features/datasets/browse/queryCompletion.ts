import { quoted } from '../views/asked';

/** Values that a version holds, by their column. */
export interface KnownValues {
  labels: readonly string[];
  splits: readonly string[];
  mediaTypes: readonly string[];
  /** Classes of drawn objects. */
  classes: readonly string[];
}

export interface Completion {
  /** The text from here to the caret is replaced. */
  from: number;
  options: readonly string[];
}

export const NOTHING_KNOWN: KnownValues = { labels: [], splits: [], mediaTypes: [], classes: [] };
const MOST_OPTIONS = 50;
const KINDS = ['box', 'rotated_box', 'polygon', 'polyline', 'point', 'keypoints', 'mask'];
/** The columns of the query language; one that ends with a dot goes on with a name. */
const COLUMNS = [
  ...['path', 'name', 'folder', 'size', 'media_type', 'label', 'split', 'attributes.'],
  ...['label', 'kind', 'area', 'x', 'y', 'width', 'height', 'ignore', 'text', 'track', 'attributes.'].map(
    (field) => `objects.${field}`,
  ),
  ...['objects.count', 'objects.counts.'],
];
const PLAIN_KEY = /^[A-Za-z_]\w*$/;
const COUNTS = 'objects.counts.';
/** A column stands at the beginning, after a bracket and after these words. */
const BEFORE_COLUMN = /(?:^|\(|\b(?:AND|OR|NOT))\s*$/i;
const BEFORE_VALUE = /([\w.]+)\s*(?:=|<>|!=|\b(?:I?LIKE)|\bIN\s*\((?:[^()]*,)?)\s*$/i;

/** The columns and values that the text before the caret may go on with; null for none. */
export function completionOf(text: string, caret: number, known: KnownValues): Completion | null {
  const before = text.slice(0, caret);
  const quote = openQuote(before);
  const from = quote ?? before.search(/[\w.]*$/);
  const fragment = before.slice(quote === null ? from : from + 1);
  const leading = before.slice(0, from);
  const column = BEFORE_VALUE.exec(leading)?.[1];
  if (column) return completion(from, valuesOf(column, known), fragment);
  if (quote !== null || !BEFORE_COLUMN.test(leading)) return null;
  return completion(from, [...COLUMNS, ...countsOf(known)].map(asColumn), fragment);
}

interface Candidate {
  /** The text that a person begins to type. */
  name: string;
  /** The text that takes its place. */
  written: string;
}

const asColumn = (name: string): Candidate => ({ name, written: name });
const asText = (name: string): Candidate => ({ name, written: quoted(name) });

function completion(from: number, candidates: readonly Candidate[], fragment: string): Completion | null {
  const wanted = fragment.toLowerCase().replaceAll("''", "'");
  const fitting = candidates.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  // A column that is written out needs no offer, unless others go on from it.
  const options = fitting.filter(({ written }) => written !== fragment).map(({ written }) => written);
  return options.length === 0 ? null : { from, options: options.slice(0, MOST_OPTIONS) };
}

function valuesOf(column: string, known: KnownValues): Candidate[] {
  const texts: Record<string, readonly string[]> = {
    label: known.labels,
    split: known.splits,
    media_type: known.mediaTypes,
    'objects.label': known.classes,
    'objects.kind': KINDS,
  };
  if (column.toLowerCase() === 'objects.ignore') return ['TRUE', 'FALSE'].map(asColumn);
  return (texts[column.toLowerCase()] ?? []).map(asText);
}

const countsOf = ({ classes }: KnownValues): string[] =>
  classes.map((name) => COUNTS + (PLAIN_KEY.test(name) ? name : `"${name.replaceAll('"', '""')}"`));

/** Where the text that is not closed yet begins; null outside of texts. */
function openQuote(before: string): number | null {
  let start = 0;
  let isOpen = false;
  for (let at = 0; at < before.length; at++) {
    if (before[at] !== "'") continue;
    isOpen = !isOpen;
    // Two quotes are one inside of a text, which goes on.
    if (isOpen && (start === 0 || before[at - 1] !== "'")) start = at;
  }
  return isOpen ? start : null;
}
