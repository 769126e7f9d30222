import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { NewInvitation, Role, ServiceTokenRequest } from '@/api/contract/accounts';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { at, type Place, pathsOf } from './place';

const INVITATIONS = {
  project: '/api/v1/projects/{project}/invitations/',
  unit: '/api/v1/units/{unit_id}/invitations/',
} as const;
const INVITATION = {
  project: '/api/v1/projects/{project}/invitations/{invitation_id}/',
  unit: '/api/v1/units/{unit_id}/invitations/{invitation_id}/',
} as const;
const RENEWALS = {
  project: '/api/v1/projects/{project}/invitations/{invitation_id}/renewals/',
  unit: '/api/v1/units/{unit_id}/invitations/{invitation_id}/renewals/',
} as const;
const ACCOUNTS = {
  project: '/api/v1/projects/{project}/service-accounts/',
  unit: '/api/v1/units/{unit_id}/service-accounts/',
} as const;
const ACCOUNT = {
  project: '/api/v1/projects/{project}/service-accounts/{account_id}/',
  unit: '/api/v1/units/{unit_id}/service-accounts/{account_id}/',
} as const;
const TOKENS = {
  project: '/api/v1/projects/{project}/service-accounts/{account_id}/tokens/',
  unit: '/api/v1/units/{unit_id}/service-accounts/{account_id}/tokens/',
} as const;
const TOKEN = {
  project: '/api/v1/projects/{project}/service-accounts/{account_id}/tokens/{token_id}/',
  unit: '/api/v1/units/{unit_id}/service-accounts/{account_id}/tokens/{token_id}/',
} as const;
const query = { limit: 50 };

export function useInvitations(place: Place) {
  const { project, unit_id } = pathsOf(place);
  const isUnit = place.kind === 'unit';
  const ofProject = $api.useInfiniteQuery(
    'get',
    INVITATIONS.project,
    { params: { path: { project }, query } },
    { ...KEYSET, enabled: !isUnit },
  );
  const ofUnit = $api.useInfiniteQuery(
    'get',
    INVITATIONS.unit,
    { params: { path: { unit_id }, query } },
    { ...KEYSET, enabled: isUnit },
  );
  return useKeysetRows(isUnit ? ofUnit : ofProject);
}

export const invite = (place: Place, body: NewInvitation) =>
  at(
    place,
    (path) => api.POST(INVITATIONS.project, { params: { path }, body }).then(dataOf),
    (path) => api.POST(INVITATIONS.unit, { params: { path }, body }).then(dataOf),
  );

export const renewInvitation = (place: Place, invitation_id: string) =>
  at(
    place,
    (path) => api.POST(RENEWALS.project, { params: { path: { ...path, invitation_id } }, body: {} }).then(dataOf),
    (path) => api.POST(RENEWALS.unit, { params: { path: { ...path, invitation_id } }, body: {} }).then(dataOf),
  );

export const revokeInvitation = (place: Place, invitation_id: string) =>
  at<Promise<unknown>>(
    place,
    (path) => api.DELETE(INVITATION.project, { params: { path: { ...path, invitation_id } } }),
    (path) => api.DELETE(INVITATION.unit, { params: { path: { ...path, invitation_id } } }),
  );

export function useServiceAccounts(place: Place) {
  const { project, unit_id } = pathsOf(place);
  const isUnit = place.kind === 'unit';
  const ofProject = $api.useInfiniteQuery(
    'get',
    ACCOUNTS.project,
    { params: { path: { project }, query } },
    { ...KEYSET, enabled: !isUnit },
  );
  const ofUnit = $api.useInfiniteQuery(
    'get',
    ACCOUNTS.unit,
    { params: { path: { unit_id }, query } },
    { ...KEYSET, enabled: isUnit },
  );
  return useKeysetRows(isUnit ? ofUnit : ofProject);
}

export const createServiceAccount = (place: Place, body: { name: string; role: Role }) =>
  at<Promise<unknown>>(
    place,
    (path) => api.POST(ACCOUNTS.project, { params: { path }, body }),
    (path) => api.POST(ACCOUNTS.unit, { params: { path }, body }),
  );

export const changeServiceAccount = (place: Place, account_id: string, body: { role?: Role; is_active?: boolean }) =>
  at<Promise<unknown>>(
    place,
    (path) => api.PATCH(ACCOUNT.project, { params: { path: { ...path, account_id } }, body }),
    (path) => api.PATCH(ACCOUNT.unit, { params: { path: { ...path, account_id } }, body }),
  );

export function useServiceTokens(place: Place, account_id: string) {
  const { project, unit_id } = pathsOf(place);
  const isUnit = place.kind === 'unit';
  const ofProject = $api.useInfiniteQuery(
    'get',
    TOKENS.project,
    { params: { path: { project, account_id }, query } },
    { ...KEYSET, enabled: !isUnit },
  );
  const ofUnit = $api.useInfiniteQuery(
    'get',
    TOKENS.unit,
    { params: { path: { unit_id, account_id }, query } },
    { ...KEYSET, enabled: isUnit },
  );
  return useKeysetRows(isUnit ? ofUnit : ofProject);
}

export const createServiceToken = (place: Place, account_id: string, body: ServiceTokenRequest) =>
  at(
    place,
    (path) => api.POST(TOKENS.project, { params: { path: { ...path, account_id } }, body }).then(dataOf),
    (path) => api.POST(TOKENS.unit, { params: { path: { ...path, account_id } }, body }).then(dataOf),
  );

export const revokeServiceToken = (place: Place, account_id: string, token_id: string) =>
  at<Promise<unknown>>(
    place,
    (path) => api.DELETE(TOKEN.project, { params: { path: { ...path, account_id, token_id } } }),
    (path) => api.DELETE(TOKEN.unit, { params: { path: { ...path, account_id, token_id } } }),
  );

/** A failure is thrown by the client: an answer has its body. */
function dataOf<T>({ data }: { data?: T }): T {
  if (data === undefined) throw new TypeError('empty answer');
  return data;
}

export function useRefreshInvitations(place: Place) {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: keyOf(INVITATIONS[place.kind]) });
}

export function useRefreshServiceAccounts(place: Place) {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: keyOf(ACCOUNTS[place.kind]) }),
      client.invalidateQueries({ queryKey: keyOf(TOKENS[place.kind]) }),
    ]);
}
