import { useQuery } from '@tanstack/react-query';
import { $api } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import type { EntrySource } from '../browse/entrySource';
import type { VersionAddress } from '../queries';

const HISTORY = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/history/';
const PICTURE = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/picture/';
const PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/entries/preview/';
const LINEAGE = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/lineage/';
const LABELS = '/api/v1/projects/{project}/labelx/item-labels/';

/** The changes of a path by version, the newest first. */
export function usePathHistory(address: VersionAddress, path: string) {
  const init = { params: { path: { ...address }, query: { path } } };
  const query = $api.useInfiniteQuery('get', HISTORY, init, KEYSET);
  return { ...useKeysetRows(query), endsAt: query.data?.pages.at(-1)?.ends_at ?? null };
}

/** Dimensions, EXIF and damage of a picture; not asked for where `isPicture` is false. */
export const usePicture = (address: VersionAddress, path: string, isPicture = true) =>
  $api.useQuery(
    'get',
    PICTURE,
    { params: { path: { ...address }, query: { path } } },
    { enabled: isPicture, staleTime: 300_000 },
  );

export const useEntryPreview = (address: VersionAddress, path: string) =>
  $api.useQuery('get', PREVIEW, { params: { path: { ...address }, query: { path } } }, { staleTime: 60_000 });

/** Descendants of the version: runs, models, label tasks. */
export const useLineage = (address: VersionAddress) =>
  $api.useQuery('get', LINEAGE, { params: { path: { ...address } } });

export function useItemLabels(dataset: string, path: string) {
  const project = useProject();
  return $api.useQuery('get', LABELS, { params: { path: { project }, query: { dataset, path } } });
}

/** The paths beside the file that stands at `at` in the list; none when the list is another by now. */
export function useNeighbours(source: EntrySource, sourceKey: string, path: string, at: number | undefined) {
  return useQuery({
    queryKey: ['neighbours', sourceKey, path, at],
    enabled: at !== undefined,
    queryFn: async () => {
      const place = at as number;
      const here = await source.entryAt(place);
      if (here?.path !== path) return { previous: null, next: null };
      const [previous, next] = await Promise.all([source.entryAt(place - 1), source.entryAt(place + 1)]);
      return { previous: previous?.path ?? null, next: next?.path ?? null };
    },
  }).data;
}
