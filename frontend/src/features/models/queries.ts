import { $api, api, keyOf } from '@/api/client';
import { KEYSET, keepWithin, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import { flushPending } from '@/shared/ui/pending';

/** The models of the project with `q` in their names. */
export function useModels(q = '') {
  const project = useProject();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/projects/{project}/models/',
      { params: { path: { project }, query: { q: q || undefined, limit: 50 } } },
      { ...KEYSET, placeholderData: keepWithin(project) },
    ),
  );
}

export function useModel(model: string) {
  const project = useProject();
  return $api.useQuery('get', '/api/v1/projects/{project}/models/{model}/', { params: { path: { project, model } } });
}

export function useModelVersions(model: string) {
  const project = useProject();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/projects/{project}/models/{model}/versions/',
      { params: { path: { project, model }, query: { limit: 50 } } },
      { ...KEYSET },
    ),
  );
}

export function useModelVersion(model: string, number: number) {
  const project = useProject();
  return $api.useQuery('get', '/api/v1/projects/{project}/models/{model}/versions/{number}/', {
    params: { path: { project, model, number } },
  });
}

export function useEvaluations(model: string, number: number) {
  const project = useProject();
  const params = { path: { project, model, number }, query: { limit: 50 } };
  return $api.useQuery('get', '/api/v1/projects/{project}/models/{model}/versions/{number}/evaluations/', { params });
}

export function useLineage(model: string, number: number) {
  const project = useProject();
  return $api.useQuery('get', '/api/v1/projects/{project}/models/{model}/versions/{number}/lineage/', {
    params: { path: { project, model, number } },
  });
}

export function useDownload(model: string, number: number) {
  const project = useProject();
  // Its addresses expire: asked again at every visit.
  return $api.useQuery(
    'get',
    '/api/v1/projects/{project}/models/{model}/versions/{number}/download/',
    { params: { path: { project, model, number } } },
    { staleTime: 60_000, gcTime: 60_000 },
  );
}

export function useAliasHistory(model: string) {
  const project = useProject();
  return useKeysetRows(
    $api.useInfiniteQuery(
      'get',
      '/api/v1/projects/{project}/models/{model}/aliases/history/',
      { params: { path: { project, model }, query: { limit: 50 } } },
      { ...KEYSET },
    ),
  );
}

/** Names an alias for `confirmUndo`: its removal must not come after it is set anew. */
export const aboutAlias = (project: string, model: string, alias: string) => `alias ${project}/${model}/${alias}`;

export async function setAlias(project: string, model: string, alias: string, version: number) {
  await flushPending(aboutAlias(project, model, alias));
  return api.PUT('/api/v1/projects/{project}/models/{model}/aliases/{alias}/', {
    params: { path: { project, model, alias } },
    body: { version },
  });
}

export const removeAlias = (project: string, model: string, alias: string) =>
  api.DELETE('/api/v1/projects/{project}/models/{model}/aliases/{alias}/', {
    params: { path: { project, model, alias } },
  });

/** Everything that an alias changes. */
export const ALIAS_KEYS = [
  keyOf('/api/v1/projects/{project}/models/'),
  keyOf('/api/v1/projects/{project}/models/{model}/'),
  keyOf('/api/v1/projects/{project}/models/{model}/versions/'),
  keyOf('/api/v1/projects/{project}/models/{model}/versions/{number}/'),
  keyOf('/api/v1/projects/{project}/models/{model}/aliases/history/'),
];
