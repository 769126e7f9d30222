import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { compareSearch } from '../search';

export type CompareSearch = Partial<ReturnType<typeof compareSearch>>;
export type SetSearch = (values: CompareSearch) => void;

/** The page's whole state is its address. */
export function useCompareSearch(): [CompareSearch, SetSearch] {
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as CompareSearch;
  const set = useCallback<SetSearch>(
    (values) => void navigate({ to: '.', search: (old) => ({ ...old, ...values }), replace: true }),
    [navigate],
  );
  return [search, set];
}
