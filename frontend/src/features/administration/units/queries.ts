import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';

const PROJECTS = '/api/v1/projects/';
const PROJECT = '/api/v1/projects/{project}/';
const UNITS = '/api/v1/units/';
const UNIT = '/api/v1/units/{unit_id}/';
const UNIT_PROJECTS = '/api/v1/units/{unit_id}/projects/';
const ORGANISATIONS = '/api/v1/organisations/';
const PAGE = 50;
const MOST = 200;

export function useUnits(q?: string) {
  const init = { params: { query: { q, limit: MOST } } };
  return useKeysetRows($api.useInfiniteQuery('get', UNITS, init, { ...KEYSET, placeholderData: keepPreviousData }));
}

/** The units that a project or unit can be put in: those that the person administers. */
export function useOwnUnits() {
  const { rows } = useUnits();
  return rows?.filter(({ role }) => role === 'admin') ?? [];
}

export const useUnit = (unit_id: string) => $api.useQuery('get', UNIT, { params: { path: { unit_id } } });

export function useUnitProjects(unit_id: string) {
  const init = { params: { path: { unit_id }, query: { limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', UNIT_PROJECTS, init, KEYSET));
}

export function useOrganisations(enabled: boolean) {
  const init = { params: { query: { limit: MOST } } };
  return $api.useQuery('get', ORGANISATIONS, init, { enabled }).data?.results ?? [];
}

export const createUnit = (body: { name: string; parent?: string; organisation?: string }) => api.POST(UNITS, { body });
export const changeUnit = (unit_id: string, body: { name?: string; parent?: string | null }) =>
  api.PATCH(UNIT, { params: { path: { unit_id } }, body });
export const deleteUnit = (unit_id: string) => api.DELETE(UNIT, { params: { path: { unit_id } } });
export const createProject = (body: { slug: string; name: string; unit?: string }) => api.POST(PROJECTS, { body });
export const changeProject = (project: string, body: { name?: string; unit?: string }) =>
  api.PATCH(PROJECT, { params: { path: { project } }, body });

/** Reads the tree, and what hangs on it, again. */
export function useRefreshTree() {
  const client = useQueryClient();
  return () =>
    Promise.all(
      [keyOf(UNITS), keyOf(UNIT), keyOf(UNIT_PROJECTS), keyOf(PROJECTS)].map((queryKey) =>
        client.invalidateQueries({ queryKey }),
      ),
    );
}
