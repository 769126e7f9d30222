import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Listing } from './contract/shapes';

/** The options that make `$api.useInfiniteQuery` follow `next` cursors. */
export const KEYSET = {
  pageParamName: 'cursor',
  // Not undefined: openapi-react-query would send `cursor=0`. A null parameter is left out.
  initialPageParam: null as unknown,
  getNextPageParam: (page: { next?: string | null }) => page.next ?? undefined,
};

interface AskedBefore {
  queryKey: readonly unknown[];
}

/**
 * As `placeholderData`: while another search of a project's list is answered, the rows of the last one stay. Those of
 * another project do not, and that there were none does not.
 */
export const keepWithin =
  (project: string) =>
  <D extends { pages: { results: unknown[] }[] }>(before: D | undefined, asked: AskedBefore | undefined) => {
    const init = asked?.queryKey[2] as { params: { path: { project: string } } } | undefined;
    return init?.params.path.project === project && before?.pages[0]?.results.length ? before : undefined;
  };

export interface KeysetRows<T> {
  rows: T[] | undefined;
  isPending: boolean;
  error: unknown;
  refetch: () => void;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
}

/** Flattens an infinite query into what a DataTable takes. */
export function useKeysetRows<T>(query: UseInfiniteQueryResult<InfiniteData<Listing<T>>, unknown>): KeysetRows<T> {
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.results), [query.data]);
  return {
    rows,
    isPending: query.isPending,
    error: query.error,
    refetch: () => void query.refetch(),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
  };
}
