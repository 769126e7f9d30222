import { keepPreviousData } from '@tanstack/react-query';
import { $api } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

const BRANCHES = '/api/v1/projects/{project}/datasets/{dataset}/branches/';
const TAGS = '/api/v1/projects/{project}/datasets/{dataset}/tags/';
const PAGE = 50;

/** The branches with `q` in their names, page by page; while another search runs, those of the last one. */
export function useBranches(dataset: string, q: string | undefined) {
  const project = useProject();
  const init = { params: { path: { project, dataset }, query: { q, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', BRANCHES, init, { ...KEYSET, placeholderData: keepPreviousData }));
}

/** The tags with `q` in their names, the newest first. */
export function useTags(dataset: string, q: string | undefined) {
  const project = useProject();
  const init = { params: { path: { project, dataset }, query: { q, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', TAGS, init, { ...KEYSET, placeholderData: keepPreviousData }));
}
