/** One attribute in which two sides differ; undefined where a side does not have it. */
export interface AttributeSides {
  name: string;
  ours: string | undefined;
  theirs: string | undefined;
}

type Json = Record<string, unknown>;

/**
 * The attributes that differ between two sides, from JSON objects that hold just those; text is shown without its
 * quotes.
 */
export function attributeSides(ours: string, theirs: string): AttributeSides[] {
  const sides = [ours, theirs].map((text) => JSON.parse(text || '{}') as Json);
  const shown = (side: Json | undefined, name: string) => {
    const value = side?.[name];
    return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
  };
  const names = [...new Set(sides.flatMap((side) => Object.keys(side)))].sort();
  return names.map((name) => ({ name, ours: shown(sides[0], name), theirs: shown(sides[1], name) }));
}
