/** The name that is being typed after an @ before the caret; null where none is. */
export function typedName(text: string, caret: number): string | null {
  const found = /(?:^|[^\w.@+-])@([\w.@+-]*)$/.exec(text.slice(0, caret));
  return found ? (found[1] ?? '') : null;
}

/** The text with the whole name in the place of what is typed of it, and where the caret goes. */
export function withName(text: string, caret: number, name: string): [string, number] {
  const typed = typedName(text, caret) ?? '';
  const before = `${text.slice(0, caret - typed.length)}${name} `;
  return [before + text.slice(caret), before.length];
}

export interface Piece {
  text: string;
  /** The member's full name where the piece names one. */
  who?: string;
}

/** Cuts a comment at the names of the members whom it mentions. */
export function pieces(text: string, mentioned: readonly { username: string; full_name: string }[]): Piece[] {
  const known = new Map(mentioned.map((one) => [one.username, one.full_name || one.username]));
  const out: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(/(?<![\w.@+-])@([\w.@+-]+)/g)) {
    const typed = match[1] ?? '';
    const name = known.has(typed) ? typed : typed.replace(/[.\-+@]+$/, '');
    const who = known.get(name);
    if (who === undefined) continue;
    if (match.index > from) out.push({ text: text.slice(from, match.index) });
    out.push({ text: `@${name}`, who });
    from = match.index + name.length + 1;
  }
  if (from < text.length) out.push({ text: text.slice(from) });
  return out;
}
