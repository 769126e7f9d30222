/** Where to mark a line: pairs of positions in its plain text, the second one exclusive. */
export type Highlight = (plain: string) => [number, number][];

export const NOTHING: Highlight = () => [];

/** Marks every place of a text. */
export function ofText(query: string, matchCase: boolean): Highlight {
  if (query === '') return NOTHING;
  const needle = matchCase ? query : query.toLowerCase();
  return (plain) => {
    const haystack = matchCase ? plain : plain.toLowerCase();
    const found: [number, number][] = [];
    for (let at = haystack.indexOf(needle); at !== -1; at = haystack.indexOf(needle, at + needle.length))
      found.push([at, at + needle.length]);
    return found;
  };
}

/** Marks what the server found. It counts characters, JavaScript counts half of an emoji as one. */
export function ofSpans(spans: readonly (readonly number[])[]): Highlight {
  return (plain) => {
    const wide = /[\ud800-\udfff]/.test(plain);
    const at = (position: number) => (wide ? [...plain].slice(0, position).join('').length : position);
    return spans.map(([from = 0, to = 0]): [number, number] => [at(from), at(to)]).filter(([from, to]) => to > from);
  };
}
