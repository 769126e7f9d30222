interface Placed {
  id: string;
  parent: string | null;
}

/** The unit that lies above all others that a person administers; none where there are several such trees. */
export function topUnit(units: readonly Placed[]): string | undefined {
  const ids = new Set(units.map(({ id }) => id));
  const tops = units.filter(({ parent }) => parent === null || !ids.has(parent));
  return tops.length === 1 ? tops[0]?.id : undefined;
}
