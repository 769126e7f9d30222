import type { Escape, PlainLine } from './ansi';

export type Fd = 1 | 2;

/** Line colours repeat: each distinct code is stored once. */
const codes: string[] = [];
const codeIndex = new Map<string, number>();
const MAX_CODES = 65_535;

function intern(code: string): number | null {
  const known = codeIndex.get(code);
  if (known !== undefined) return known;
  if (codes.length >= MAX_CODES) return null;
  codeIndex.set(code, codes.length);
  return codes.push(code) - 1;
}

/** Where in a text something is next, from a position on; -1 if it is not there. */
export type Finder = (text: string, from: number) => number;

/** Looks for words. To fold the case of a million lines would take longer than to look through them. */
export function finderOf(query: string, matchCase: boolean): Finder {
  if (matchCase) return (text, from) => text.indexOf(query, from);
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
  return (text, from) => {
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? -1;
  };
}

/** First index below `length` whose value is greater than `value`. */
function upperBound(sorted: ArrayLike<number>, value: number, length = sorted.length): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Lines in a block; a full one is sealed. */
export const BLOCK_LINES = 4096;

/**
 * Up to BLOCK_LINES consecutive lines: one string of plain text (each line ends with `\n`), the start of each
 * line, its file descriptor and time, and the colour codes beside it. A block that is sealed costs the text plus 13
 * bytes a line plus 6 bytes a code.
 */
export class LineBlock {
  private text = '';
  private pending: string[] = [];
  private length = 0;
  count = 0;
  private starts = new Uint32Array(BLOCK_LINES);
  private fds = new Uint8Array(BLOCK_LINES);
  private timesMs = new Float64Array(BLOCK_LINES);
  private escapeAt: number[] | Uint32Array = [];
  private escapeCode: number[] | Uint16Array = [];

  readonly firstLine: number;

  constructor(firstLine: number) {
    this.firstLine = firstLine;
  }

  push({ plain, escapes }: PlainLine, fd: Fd, timeMs: number): void {
    const index = this.count++;
    this.starts[index] = this.length;
    this.fds[index] = fd;
    this.timesMs[index] = timeMs;
    for (const one of escapes) this.pushEscape(one);
    this.pending.push(plain);
    this.length += plain.length + 1;
  }

  private pushEscape({ at, code }: Escape): void {
    const index = intern(code);
    if (index === null) return;
    (this.escapeAt as number[]).push(this.length + at);
    (this.escapeCode as number[]).push(index);
  }

  /** Packs the text and the codes; no line may be pushed afterwards. */
  seal(): void {
    this.plainText();
    this.escapeAt = Uint32Array.from(this.escapeAt);
    this.escapeCode = Uint16Array.from(this.escapeCode);
  }

  plainText(): string {
    if (this.pending.length > 0) {
      // Joined with its last newline: one that is added to it would have the whole text copied at the first search.
      this.pending.push('');
      this.text += this.pending.join('\n');
      this.pending = [];
    }
    return this.text;
  }

  line(index: number): { plain: string; escapes: Escape[]; fd: Fd; timeMs: number } {
    const start = this.starts[index] as number;
    const end = this.endOf(index) - 1;
    const escapes: Escape[] = [];
    for (let k = upperBound(this.escapeAt, start - 1); k < this.escapeAt.length; k++) {
      const at = this.escapeAt[k] as number;
      if (at > end) break;
      escapes.push({ at: at - start, code: codes[this.escapeCode[k] as number] as string });
    }
    const fd = this.fds[index] as Fd;
    return { plain: this.plainText().slice(start, end), escapes, fd, timeMs: this.timesMs[index] as number };
  }

  /** Position after a line's newline. */
  private endOf(index: number): number {
    return index + 1 < this.count ? (this.starts[index + 1] as number) : this.length;
  }

  fdOf(index: number): Fd {
    return this.fds[index] as Fd;
  }

  /** Appends the numbers of the lines in which `next` finds something; stops at `max` of them. */
  find(next: Finder, into: number[], max: number): void {
    const text = this.plainText();
    let at = next(text, 0);
    while (at !== -1 && into.length < max) {
      const line = upperBound(this.starts, at, this.count) - 1;
      into.push(this.firstLine + line);
      at = next(text, this.endOf(line));
    }
  }
}
