import { $api, api, keyOf } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/project';

export function useModels() {
  const p = useProject();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/projects/{p}/models/',
      { params: { path: { p }, query: { limit: 50 } } },
      { ...KEYSET },
    ),
  );
}

export function useModel(m: string) {
  const p = useProject();
  return $api.useQuery('get', '/api/v1/projects/{p}/models/{m}/', { params: { path: { p, m } } });
}

export function useModelVersions(m: string) {
  const p = useProject();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/projects/{p}/models/{m}/versions/',
      { params: { path: { p, m }, query: { limit: 50 } } },
      { ...KEYSET },
    ),
  );
}

export function useModelVersion(m: string, n: string) {
  const p = useProject();
  return $api.useQuery('get', '/api/v1/projects/{p}/models/{m}/versions/{n}/', { params: { path: { p, m, n } } });
}

export function useEvaluations(m: string, n: string) {
  const p = useProject();
  const params = { path: { p, m, n }, query: { limit: 50 } };
  return $api.useQuery('get', '/api/v1/projects/{p}/models/{m}/versions/{n}/evaluations/', { params });
}

export function useLineage(m: string, n: string) {
  const p = useProject();
  return $api.useQuery('get', '/api/v1/projects/{p}/models/{m}/versions/{n}/lineage/', {
    params: { path: { p, m, n } },
  });
}

export function useDownload(m: string, n: string) {
  const p = useProject();
  // Its addresses expire: asked again at every visit.
  return $api.useQuery(
    'get',
    '/api/v1/projects/{p}/models/{m}/versions/{n}/download/',
    { params: { path: { p, m, n } } },
    { staleTime: 60_000, gcTime: 60_000 },
  );
}

export function useAliasHistory(m: string) {
  const p = useProject();
  const params = { path: { p, m }, query: { limit: 50 } };
  return $api.useQuery('get', '/api/v1/projects/{p}/models/{m}/aliases/history/', { params });
}

export const setAlias = (p: string, m: string, alias: string, version: number) =>
  api.PUT('/api/v1/projects/{p}/models/{m}/aliases/{alias}/', { params: { path: { p, m, alias } }, body: { version } });

export const removeAlias = (p: string, m: string, alias: string) =>
  api.DELETE('/api/v1/projects/{p}/models/{m}/aliases/{alias}/', { params: { path: { p, m, alias } } });

/** Everything that an alias changes. */
export const ALIAS_KEYS = [
  keyOf('/api/v1/projects/{p}/models/'),
  keyOf('/api/v1/projects/{p}/models/{m}/'),
  keyOf('/api/v1/projects/{p}/models/{m}/versions/'),
  keyOf('/api/v1/projects/{p}/models/{m}/versions/{n}/'),
  keyOf('/api/v1/projects/{p}/models/{m}/aliases/history/'),
];
