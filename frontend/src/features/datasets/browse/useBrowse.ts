import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { EntryQuery } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import { fetchEntries, useDataset, type VersionAddress } from '../queries';
import { EntrySource } from './entrySource';

const route = getRouteApi('/datasets/$name');

export type BrowseSearch = ReturnType<typeof route.useSearch>;

/** The state in the URL: dataset, version, folder, filters; and how to change it. */
export function useBrowse() {
  const { name } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const dataset = useDataset(name);
  const ref = search.ref ?? dataset.data?.latest?.ref;
  const address = useMemo<VersionAddress | null>(
    () => (ref ? { project, dataset: name, ref } : null),
    [project, name, ref],
  );
  const change = useCallback(
    (patch: Partial<BrowseSearch>, replace = false) =>
      void navigate({ search: (old) => ({ ...old, ...patch }), replace, resetScroll: false }),
    [navigate],
  );
  return { name, search, ref, address, dataset, change };
}

export function queryOf(search: BrowseSearch): EntryQuery {
  const { path, label, split, labelled, type, min, max, where, view } = search;
  return { prefix: path, label, split, labelled, type, min_size: min, max_size: max, where, view };
}

/** The search without filters: the folder and the view of files stay. */
export const NO_FILTERS = {
  label: undefined,
  split: undefined,
  labelled: undefined,
  type: undefined,
  min: undefined,
  max: undefined,
  where: undefined,
  view: undefined,
} as const;

export const isFiltered = (search: BrowseSearch): boolean =>
  (Object.keys(NO_FILTERS) as (keyof typeof NO_FILTERS)[]).some((name) => search[name] !== undefined);

/** The entries that the URL asks for: how many there are, and a source to read them from. */
export function useEntries(address: VersionAddress, search: BrowseSearch) {
  const query = queryOf(search);
  const sourceKey = JSON.stringify([address, query]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the address and the query
  const source = useMemo(
    () => new EntrySource((page, signal) => fetchEntries(address, { ...query, ...page }, signal)),
    [sourceKey],
  );
  const first = useQuery({
    queryKey: ['entries', sourceKey],
    queryFn: ({ signal }) => fetchEntries(address, { ...query, limit: 1 }, signal),
  });
  return {
    source,
    sourceKey,
    total: first.data?.total,
    isExact: first.data?.total_is_exact ?? true,
    countedBefore: first.data?.counted_before ?? null,
    error: first.error,
    refetch: () => void first.refetch(),
  };
}

/** Where a file stands in the list that the address asks for, from 0; null where it is not in it. */
export function usePlace({ source, sourceKey, total }: ReturnType<typeof useEntries>, path: string | undefined) {
  return (
    useQuery({
      queryKey: ['place', sourceKey, path],
      queryFn: () => source.placeOf(path ?? '', total ?? 0),
      enabled: path !== undefined && total !== undefined,
      staleTime: Number.POSITIVE_INFINITY,
    }).data ?? null
  );
}
