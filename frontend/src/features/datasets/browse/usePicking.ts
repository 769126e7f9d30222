import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import type { Picking } from '@/shared/grid/GridRow';
import { countOf, indices, NONE, type Runs, toggled, withRun } from '@/shared/grid/picking';
import type { EntrySource } from './entrySource';

/** As many paths as one step of an edit takes: what is more is asked for as a question. */
export const MAX_PICKED = 1000;

interface Picked {
  /** The query to which the numbers of the cells belong. */
  sourceKey: string;
  runs: Runs;
  isAll: boolean;
}

/** Which files of the grid are chosen: some by their place in the list, or all that match. */
export function usePicking(entries: { source: EntrySource; sourceKey: string; total: number | undefined }) {
  const { t } = useTranslation();
  const { source, sourceKey, total = 0 } = entries;
  const [kept, setKept] = useState<Picked>({ sourceKey, runs: NONE, isAll: false });
  // Other filters or another version: the numbers mean other files.
  const { runs, isAll } = kept.sourceKey === sourceKey ? kept : { runs: NONE, isAll: false };
  const anchor = useRef(0);
  const setRuns = useCallback(
    (change: (runs: Runs) => Runs) =>
      setKept((old) => ({ sourceKey, runs: change(old.sourceKey === sourceKey ? old.runs : NONE), isAll: false })),
    [sourceKey],
  );
  const clear = useCallback(() => setRuns(() => NONE), [setRuns]);
  const pickAll = useCallback(
    () => setKept({ sourceKey, runs: total > 0 ? [[0, total]] : NONE, isAll: total > 0 }),
    [sourceKey, total],
  );
  const pick = useCallback(
    (index: number, reaches: boolean) => {
      const from = anchor.current;
      anchor.current = index;
      setRuns((old) => (reaches && old.length > 0 ? withRun(old, from, index) : toggled(old, index)));
    },
    [setRuns],
  );
  const labelOf = useCallback(({ path }: Entry) => t('datasets.pick', { path }), [t]);
  const picking = useMemo<Picking<Entry>>(
    () => ({ runs, pick, pickAll, clear, labelOf }),
    [runs, pick, pickAll, clear, labelOf],
  );
  const count = countOf(runs);
  const isNamed = !isAll && count > 0 && count <= MAX_PICKED;
  const paths = useQuery({
    queryKey: ['picked', sourceKey, runs],
    queryFn: () => pathsOf(source, runs),
    enabled: isNamed,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return { picking, count, isAll, pickAll, clear, paths: isNamed ? paths.data : undefined, error: paths.error };
}

/** The paths of chosen cells; ascending, so that each page is read once. */
async function pathsOf(source: EntrySource, runs: Runs): Promise<string[]> {
  const found: string[] = [];
  for (const index of indices(runs)) {
    const entry = await source.entryAt(index);
    if (entry) found.push(entry.path);
  }
  return found;
}
