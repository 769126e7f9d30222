/** Where people have roles: a project, by its slug, or a unit with all below it. */
export type Place = { kind: 'project'; project: string } | { kind: 'unit'; unit_id: string };

/** Asks the address of a project or that of a unit, whichever the place is. */
export function at<T>(
  place: Place,
  ofProject: (path: { project: string }) => T,
  ofUnit: (path: { unit_id: string }) => T,
): T {
  return place.kind === 'project' ? ofProject({ project: place.project }) : ofUnit({ unit_id: place.unit_id });
}

/** The two paths' parameters; that of the other kind is not asked. */
export const pathsOf = (place: Place) => ({
  project: place.kind === 'project' ? place.project : '',
  unit_id: place.kind === 'unit' ? place.unit_id : '',
});
