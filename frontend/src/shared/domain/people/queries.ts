import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { NewMember, Role } from '@/api/contract/accounts';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { at, type Place, pathsOf } from './place';

const OF_PROJECT = '/api/v1/projects/{project}/members/';
const OF_UNIT = '/api/v1/units/{unit_id}/members/';
const ONE_OF_PROJECT = '/api/v1/projects/{project}/members/{user_id}/';
const ONE_OF_UNIT = '/api/v1/units/{unit_id}/members/{user_id}/';
const PROJECT_CANDIDATES = '/api/v1/projects/{project}/candidates/';
const UNIT_CANDIDATES = '/api/v1/units/{unit_id}/candidates/';
const PAGE = 50;

export interface MemberFilter {
  q?: string;
  role?: Role;
}

export function useMembers(place: Place, filter: MemberFilter) {
  const { project, unit_id } = pathsOf(place);
  const query = { ...filter, limit: PAGE };
  const isUnit = place.kind === 'unit';
  const kept = { ...KEYSET, placeholderData: keepPreviousData };
  const ofProject = $api.useInfiniteQuery(
    'get',
    OF_PROJECT,
    { params: { path: { project }, query } },
    { ...kept, enabled: !isUnit },
  );
  const ofUnit = $api.useInfiniteQuery(
    'get',
    OF_UNIT,
    { params: { path: { unit_id }, query } },
    { ...kept, enabled: isUnit },
  );
  return useKeysetRows(isUnit ? ofUnit : ofProject);
}

/** People who could be added, for a picker. */
export function useCandidates(place: Place, q: string) {
  const { project, unit_id } = pathsOf(place);
  const asked = q.trim() !== '';
  const isUnit = place.kind === 'unit';
  const ofProject = $api.useQuery(
    'get',
    PROJECT_CANDIDATES,
    { params: { path: { project }, query: { q } } },
    { enabled: asked && !isUnit },
  );
  const ofUnit = $api.useQuery(
    'get',
    UNIT_CANDIDATES,
    { params: { path: { unit_id }, query: { q } } },
    { enabled: asked && isUnit },
  );
  return (isUnit ? ofUnit : ofProject).data ?? [];
}

export const addMember = (place: Place, body: NewMember) =>
  at<Promise<unknown>>(
    place,
    (path) => api.POST(OF_PROJECT, { params: { path }, body }),
    (path) => api.POST(OF_UNIT, { params: { path }, body }),
  );

export const changeRole = (place: Place, user_id: string, role: Role) =>
  at<Promise<unknown>>(
    place,
    (path) => api.PATCH(ONE_OF_PROJECT, { params: { path: { ...path, user_id } }, body: { role } }),
    (path) => api.PATCH(ONE_OF_UNIT, { params: { path: { ...path, user_id } }, body: { role } }),
  );

export const removeMember = (place: Place, user_id: string) =>
  at<Promise<unknown>>(
    place,
    (path) => api.DELETE(ONE_OF_PROJECT, { params: { path: { ...path, user_id } } }),
    (path) => api.DELETE(ONE_OF_UNIT, { params: { path: { ...path, user_id } } }),
  );

export function useRefreshMembers(place: Place) {
  const client = useQueryClient();
  const key = place.kind === 'unit' ? keyOf(OF_UNIT) : keyOf(OF_PROJECT);
  return () => client.invalidateQueries({ queryKey: key });
}
