/** Pictures that a guideline names: `![a car](picture:0195a3f2-…)`. */
const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ADDRESS = new RegExp(`^picture:(${ID})$`, 'i');
const REFERENCE = new RegExp(`!\\[([^\\]]*)\\]\\(picture:(${ID})\\)`, 'gi');

/** The id of the picture that a Markdown address names; null for any other address. */
export const pictureIdOf = (address: string): string | null => ADDRESS.exec(address)?.[1]?.toLowerCase() ?? null;

/** Where the server shows a picture of this project; it shows no other project's there. */
export const pictureAddress = (project: string, id: string): string =>
  `/api/v1/projects/${encodeURIComponent(project)}/labelx/guideline-pictures/${id}/bytes/`;

export interface Reference {
  id: string;
  alt: string;
  start: number;
  end: number;
}

/** The pictures that a guideline names, in its order; one that it names twice is there twice. */
export function referencesOf(text: string): Reference[] {
  return [...text.matchAll(REFERENCE)].map((match) => ({
    id: (match[2] ?? '').toLowerCase(),
    alt: match[1] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** A description without the characters that would end it in Markdown. */
const plain = (alt: string) => alt.replace(/[[\]\\\r\n]+/g, ' ');
const referenceTo = (id: string, alt: string) => `![${plain(alt)}](picture:${id})`;

/** The name of a file as a first description: without its ending. */
export const altOf = (filename: string): string => plain(filename.replace(/\.\w{1,5}$/, '')).trim();

/** The text with a picture in place of the selected part, on a line of its own, and where the cursor goes then. */
export function withPicture(
  text: string,
  selection: readonly [start: number, end: number],
  id: string,
  alt: string,
): { text: string; cursor: number } {
  const before = text.slice(0, selection[0]);
  const after = text.slice(selection[1]);
  const gap = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  const start = `${before}${gap}${referenceTo(id, alt)}`;
  return { text: `${start}${after.startsWith('\n') ? '' : '\n\n'}${after}`, cursor: start.length };
}

/** The text with another description of one of its pictures. */
export const withAlt = (text: string, { id, start, end }: Reference, alt: string): string =>
  `${text.slice(0, start)}${referenceTo(id, alt)}${text.slice(end)}`;

/** The text without one of its pictures, and without the empty lines that it leaves. */
export function withoutPicture(text: string, { start, end }: Reference): string {
  const before = text.slice(0, start);
  const after = text.slice(end);
  if (before !== '' && !before.endsWith('\n')) return before + after;
  return before + after.replace(/^\n+/, '');
}
