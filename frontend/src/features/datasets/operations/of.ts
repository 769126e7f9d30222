/** Which files an edit is about: files and folders, of them those that match. */
export interface AttributesOf {
  paths: readonly string[];
  where?: string | undefined;
  view?: string | undefined;
}

/** The paths that an edit names; with nothing to narrow them, everything has to be named. */
export const editedPaths = ({ paths, where, view }: AttributesOf): string[] =>
  paths.length === 0 && !where && !view ? ['/'] : [...paths];
