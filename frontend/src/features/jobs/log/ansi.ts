const ESC = '\x1b';
const SGR_PARAMETERS = /^[0-9;]*$/;

export interface Escape {
  /** Position in the plain text before which the code applies. */
  at: number;
  /** The whole `ESC [ … m` sequence. */
  code: string;
}

export interface PlainLine {
  plain: string;
  escapes: Escape[];
}

/** Index just after the escape sequence that starts at `at`: CSI, OSC or a two-character one (ECMA-48). */
function endOfEscape(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === '[') {
    let end = at + 2;
    while (end < text.length && (text.charCodeAt(end) < 0x40 || text.charCodeAt(end) > 0x7e)) end++;
    return end + 1;
  }
  if (kind === ']') {
    const bell = text.indexOf('\x07', at);
    return bell === -1 ? text.length : bell + 1;
  }
  return at + 2;
}

/** Takes the terminal codes out of a line. Only colours and weights (SGR) are kept; cursor moves and titles are dropped. */
export function splitAnsi(line: string): PlainLine {
  let at = line.indexOf(ESC);
  if (at === -1) return { plain: line, escapes: [] };
  const parts: string[] = [];
  const escapes: Escape[] = [];
  let from = 0;
  let length = 0;
  while (at !== -1) {
    parts.push(line.slice(from, at));
    length += at - from;
    from = Math.min(line.length, endOfEscape(line, at));
    const code = line.slice(at, from);
    if (code.endsWith('m') && SGR_PARAMETERS.test(code.slice(2, -1))) escapes.push({ at: length, code });
    at = line.indexOf(ESC, from);
  }
  parts.push(line.slice(from));
  return { plain: parts.join(''), escapes };
}

/** A terminal shows only what was written after the last carriage return. */
export function afterLastRedraw(line: string): string {
  if (!line.includes('\r')) return line;
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
}
