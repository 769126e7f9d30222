import { Box, Group } from '@mantine/core';
import { useMemo } from 'react';
import { useMay } from '@/shared/domain/project';
import { useStats, type VersionAddress } from '../queries';
import { askedBy } from '../views/asked';
import { SaveView } from '../views/SaveView';
import { ViewsMenu } from '../views/ViewsMenu';
import { useViews } from '../views/viewQueries';
import { QueryField } from './QueryField';
import type { KnownValues } from './queryCompletion';
import { type BrowseSearch, NO_FILTERS } from './useBrowse';

interface QueryBarProps {
  address: VersionAddress;
  search: BrowseSearch;
  change: (patch: Partial<BrowseSearch>) => void;
  /** Whatever the last listing failed with. */
  error: unknown;
}

/** The query, the saved views, and what keeps the one as the other. */
export function QueryBar({ address, search, change, error }: QueryBarProps) {
  const views = useViews(address.dataset).data?.results;
  const mayWrite = useMay('researcher');
  const known = useKnownValues(address);
  const applied = views?.find(({ name }) => name === search.view);
  // Until the applied view is known, what the page asks is not known either.
  const asked = search.view && !applied ? { where: '', prefix: '' } : askedBy(search, applied?.query);
  const isNarrower = search.view ? askedBy(search).where !== '' || search.path !== undefined : true;
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <Box flex={1} miw={0}>
        <QueryField value={search.where} onChange={(where) => change({ where })} error={error} known={known} />
      </Box>
      <ViewsMenu address={address} value={search.view} onApply={(view) => change({ view, item: undefined })} />
      {mayWrite && isNarrower && (
        <SaveView
          dataset={address.dataset}
          asked={asked}
          onSaved={(view) => change({ ...NO_FILTERS, path: undefined, view })}
        />
      )}
    </Group>
  );
}

/** Values of the version's own columns; they are counted once for a version. */
function useKnownValues({ dataset, ref }: VersionAddress): KnownValues | undefined {
  const stats = useStats(dataset, ref).data;
  return useMemo(() => {
    if (!stats) return undefined;
    const { labels, splits, media_types, object_labels } = stats;
    const names = (counts: object | undefined) => Object.keys(counts ?? {}).sort();
    return {
      labels: names(labels),
      splits: names(splits),
      mediaTypes: names(media_types),
      classes: names(object_labels),
    };
  }, [stats]);
}
