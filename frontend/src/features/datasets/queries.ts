import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { CacheRecord, EntryListing, EntryQuery } from '@/api/contract/datasets';
import { readApiError } from '@/api/errors';
import { KEYSET, keepWithin, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

const DATASETS = '/api/v1/projects/{project}/datasets/';
const DATASET = '/api/v1/projects/{project}/datasets/{dataset}/';
const VERSIONS = '/api/v1/projects/{project}/datasets/{dataset}/versions/';
const VERSION = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/';
const BRANCHES = '/api/v1/projects/{project}/datasets/{dataset}/branches/';
const TAGS = '/api/v1/projects/{project}/datasets/{dataset}/tags/';
const ENTRIES = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/';
const ENTRY = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/at/';
const STATS = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/stats/';
const QUARANTINED = '/api/v1/projects/{project}/datasets/{dataset}/quarantined-packs/';
const CACHE = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/cache/';
const WARM = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/warm/';

const PAGE = 50;
const WARMING_POLL_MS = 2000;

/** The datasets of the project with `q` in their names. */
export function useDatasets(q = '') {
  const project = useProject();
  const init = { params: { path: { project }, query: { q: q || undefined, limit: PAGE } } };
  const options = { ...KEYSET, placeholderData: keepWithin(project) };
  return useKeysetRows($api.useInfiniteQuery('get', DATASETS, init, options));
}

/** The names of other datasets of the project with `q` in them, for a picker: the newest, as many as a page holds. */
export function useOtherDatasets(dataset: string, q: string): string[] {
  const project = useProject();
  const init = { params: { path: { project }, query: { q, limit: PAGE } } };
  const { data } = $api.useQuery('get', DATASETS, init, { placeholderData: keepPreviousData });
  const names = data?.results.map(({ name }) => name) ?? [];
  return names.filter((name) => name !== dataset).sort();
}

export function useCreateDataset() {
  const project = useProject();
  const client = useQueryClient();
  const mutation = $api.useMutation('post', DATASETS, {
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(DATASETS) }),
  });
  return {
    ...mutation,
    create: (body: { name: string; description: string }) =>
      mutation.mutateAsync({ params: { path: { project } }, body }),
  };
}

export function useDataset(dataset: string, enabled = true) {
  const project = useProject();
  return $api.useQuery('get', DATASET, { params: { path: { project, dataset } } }, { enabled });
}

export function useVersions(dataset: string, branch?: string) {
  const project = useProject();
  const init = { params: { path: { project, dataset }, query: { branch, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', VERSIONS, init, KEYSET));
}

export function useVersion(dataset: string, ref: string | undefined) {
  const project = useProject();
  const init = { params: { path: { project, dataset, ref: ref ?? '' } } };
  return $api.useQuery('get', VERSION, init, { enabled: ref !== undefined });
}

/** Branches and tags, for pickers. */
export function useRefs(dataset: string | undefined) {
  const project = useProject();
  const init = { params: { path: { project, dataset: dataset ?? '' }, query: { limit: 200 } } };
  const enabled = dataset !== undefined;
  const branches = $api.useQuery('get', BRANCHES, init, { enabled });
  const tags = $api.useQuery('get', TAGS, init, { enabled });
  return {
    branches: branches.data?.results ?? [],
    tags: tags.data?.results ?? [],
    isPending: branches.isPending || tags.isPending,
    error: branches.error ?? tags.error,
    refetch: () => void Promise.all([branches.refetch(), tags.refetch()]),
  };
}

/** A number or a commit always names the same version; a branch moves at any time. */
const FIXED = /^(v[1-9]\d*|[0-9a-f]{8,64})$/;

/**
 * The address of the one version that an address names now: pages read one after another must be pages of the same. Undefined
 * until that is known; where it cannot be read, as it was given, so that what is read from it says why.
 */
export function useFixed(address: VersionAddress | null): VersionAddress | undefined {
  const isFixed = address !== null && FIXED.test(address.ref);
  const version = useVersion(address?.dataset ?? '', isFixed ? undefined : address?.ref);
  if (!address || isFixed) return address ?? undefined;
  const ref = version.data?.ref ?? (version.error ? address.ref : undefined);
  return ref === undefined ? undefined : { ...address, ref };
}

/** The branch whose newest version is looked at, `main` before others; undefined for an older one. */
export function useHeadBranch({ dataset, ref }: VersionAddress) {
  const { branches } = useRefs(dataset);
  const version = useVersion(dataset, ref).data;
  const named = branches.find(({ name }) => name === ref);
  if (named || !version) return named;
  const heads = branches.filter(({ head }) => head?.id === version.id);
  return heads.find(({ name }) => name === 'main') ?? heads[0];
}

export function useStats(dataset: string, ref: string | undefined) {
  const project = useProject();
  const init = { params: { path: { project, dataset, ref: ref ?? '' } } };
  return $api.useQuery('get', STATS, init, { enabled: ref !== undefined, staleTime: Number.POSITIVE_INFINITY });
}

export interface VersionAddress {
  project: string;
  dataset: string;
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

export function useEntry({ project, dataset, ref }: VersionAddress, path: string | undefined) {
  const init = { params: { path: { project, dataset, ref }, query: { path: path ?? '' } } };
  return $api.useQuery('get', ENTRY, init, { enabled: path !== undefined });
}

/** Packs that are damaged and not served; an upload that just failed appears when the page is looked at again. */
export function useQuarantinedPacks(dataset: string) {
  const project = useProject();
  return $api.useQuery('get', QUARANTINED, { params: { path: { project, dataset }, query: { limit: PAGE } } });
}

/** Why the bytes behind a media address cannot be shown; null when they can. */
export function useMediaProblem(url: string, failed: boolean) {
  return useQuery({
    queryKey: ['media-problem', url],
    queryFn: async ({ signal }) => {
      const answer = await fetch(url, { signal });
      return answer.ok ? null : readApiError(answer);
    },
    enabled: failed,
    gcTime: 0,
  }).data;
}

const isWarming = (records: CacheRecord[] | undefined) => records?.some(({ state }) => state === 'warming') ?? false;

/** Polls while bytes are on their way. */
export function useCache(dataset: string, ref: string | undefined) {
  const project = useProject();
  const init = { params: { path: { project, dataset, ref: ref ?? '' } } };
  return $api.useQuery('get', CACHE, init, {
    enabled: ref !== undefined,
    refetchInterval: (query) => (isWarming(query.state.data) ? WARMING_POLL_MS : false),
  });
}

export function useWarm(dataset: string, ref: string) {
  const project = useProject();
  const client = useQueryClient();
  const mutation = $api.useMutation('post', WARM, {
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(CACHE) }),
  });
  return { ...mutation, warm: () => mutation.mutateAsync({ params: { path: { project, dataset, ref } } }) };
}
