import { useQueryClient } from '@tanstack/react-query';
import { $api, keyOf } from '@/api/client';
import type { NewSource, Source, SourceProbe } from '@/api/contract/datasets';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';

const SOURCES = '/api/v1/projects/{project}/sources/';
const SOURCE = '/api/v1/projects/{project}/sources/{source}/';
const SCANS = '/api/v1/projects/{project}/sources/{source}/scans/';
const SCAN = '/api/v1/projects/{project}/sources/{source}/scans/{scan_id}/';
const TESTS = '/api/v1/projects/{project}/source-tests/';
const SCANNING_POLL_MS = 1500;
const PAGE = 50;

/** The sources of the project; asked again while one is being scanned. */
export function useSources() {
  const project = useProject();
  const init = { params: { path: { project }, query: { limit: PAGE } } };
  const query = $api.useInfiniteQuery('get', SOURCES, init, {
    ...KEYSET,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ results }) => results.some((source) => source.state === 'scanning'))
        ? SCANNING_POLL_MS
        : false,
  });
  return useKeysetRows(query);
}

export function useSourceActions() {
  const project = useProject();
  const client = useQueryClient();
  const options = { onSettled: () => client.invalidateQueries({ queryKey: keyOf(SOURCES) }) };
  const add = $api.useMutation('post', SOURCES, options);
  const probe = $api.useMutation('post', TESTS);
  const change = $api.useMutation('patch', SOURCE, options);
  const remove = $api.useMutation('delete', SOURCE, options);
  const scan = $api.useMutation('post', SCANS, options);
  const cancel = $api.useMutation('delete', SCAN, options);
  const at = (source: string) => ({ path: { project, source } });
  return {
    add: (body: NewSource) => add.mutateAsync({ params: { path: { project } }, body }),
    probe: (body: SourceProbe) => probe.mutateAsync({ params: { path: { project } }, body }),
    schedule: (source: string, every_s: number | null) => change.mutateAsync({ params: at(source), body: { every_s } }),
    remove: (source: string) => remove.mutateAsync({ params: at(source) }),
    scan: (source: string) => scan.mutateAsync({ params: at(source) }),
    cancel: ({ name, last_scan }: Source) =>
      cancel.mutateAsync({ params: { path: { project, source: name, scan_id: last_scan?.id ?? '' } } }),
  };
}
