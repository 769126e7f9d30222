import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { CacheRecord, EntryListing, EntryQuery } from '@/api/contract/datasets';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/project';

const DATASETS = '/api/v1/projects/{p}/datasets/';
const DATASET = '/api/v1/projects/{p}/datasets/{d}/';
const VERSIONS = '/api/v1/projects/{p}/datasets/{d}/versions/';
const VERSION = '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/';
const BRANCHES = '/api/v1/projects/{p}/datasets/{d}/branches/';
const TAGS = '/api/v1/projects/{p}/datasets/{d}/tags/';
const ENTRIES = '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/entries/';
const ENTRY = '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/entries/at/';
const STATS = '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/stats/';
const DIFF = '/api/v1/projects/{p}/datasets/{d}/diff/';
const CACHE = '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/cache/';
const WARM = '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/warm/';

const PAGE = 50;
const WARMING_POLL_MS = 2000;

export function useDatasets() {
  const p = useProject();
  const init = { params: { path: { p }, query: { limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', DATASETS, init, KEYSET));
}

export function useCreateDataset() {
  const p = useProject();
  const client = useQueryClient();
  const mutation = $api.useMutation('post', DATASETS, {
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(DATASETS) }),
  });
  return {
    ...mutation,
    create: (body: { name: string; description: string }) => mutation.mutateAsync({ params: { path: { p } }, body }),
  };
}

export function useDataset(d: string) {
  const p = useProject();
  return $api.useQuery('get', DATASET, { params: { path: { p, d } } });
}

export function useVersions(d: string, branch?: string) {
  const p = useProject();
  const init = { params: { path: { p, d }, query: { branch, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', VERSIONS, init, KEYSET));
}

export function useVersion(d: string, ref: string | undefined) {
  const p = useProject();
  const init = { params: { path: { p, d, ref: ref ?? '' } } };
  return $api.useQuery('get', VERSION, init, { enabled: ref !== undefined });
}

/** Branches and tags, for pickers. */
export function useRefs(d: string) {
  const p = useProject();
  const init = { params: { path: { p, d }, query: { limit: 200 } } };
  const branches = $api.useQuery('get', BRANCHES, init);
  const tags = $api.useQuery('get', TAGS, init);
  return { branches: branches.data?.results ?? [], tags: tags.data?.results ?? [] };
}

export function useStats(d: string, ref: string | undefined) {
  const p = useProject();
  const init = { params: { path: { p, d, ref: ref ?? '' } } };
  return $api.useQuery('get', STATS, init, { enabled: ref !== undefined, staleTime: Number.POSITIVE_INFINITY });
}

export interface VersionAddress {
  p: string;
  d: string;
  ref: string;
}

export async function fetchEntries(
  path: VersionAddress,
  query: EntryQuery,
  signal?: AbortSignal,
): Promise<EntryListing> {
  const { data } = await api.GET(ENTRIES, { params: { path: { ...path }, query }, signal });
  return data as EntryListing;
}

/** The files of a version in path order, page by page. */
export function useEntryList(path: VersionAddress, query: EntryQuery) {
  const init = { params: { path: { ...path }, query: { ...query, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', ENTRIES, init, KEYSET));
}

export function useEntry({ p, d, ref }: VersionAddress, path: string | undefined) {
  const init = { params: { path: { p, d, ref }, query: { path: path ?? '' } } };
  return $api.useQuery('get', ENTRY, init, { enabled: path !== undefined });
}

export function useDiff(d: string, from: string | undefined, to: string | undefined, kind: string | undefined) {
  const p = useProject();
  const init = { params: { path: { p, d }, query: { from: from ?? '', to: to ?? '', kind, limit: PAGE } } };
  const enabled = from !== undefined && to !== undefined && from !== to;
  const query = $api.useInfiniteQuery('get', DIFF, init, { ...KEYSET, enabled });
  return { ...useKeysetRows(query), summary: query.data?.pages[0]?.summary };
}

const isWarming = (records: CacheRecord[] | undefined) => records?.some(({ state }) => state === 'warming') ?? false;

/** Polls while bytes are on their way. */
export function useCache(d: string, ref: string | undefined) {
  const p = useProject();
  const init = { params: { path: { p, d, ref: ref ?? '' } } };
  return $api.useQuery('get', CACHE, init, {
    enabled: ref !== undefined,
    refetchInterval: (query) => (isWarming(query.state.data) ? WARMING_POLL_MS : false),
  });
}

export function useWarm(d: string, ref: string) {
  const p = useProject();
  const client = useQueryClient();
  const mutation = $api.useMutation('post', WARM, {
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(CACHE) }),
  });
  return { ...mutation, warm: () => mutation.mutateAsync({ params: { path: { p, d, ref } } }) };
}
