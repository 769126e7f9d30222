import { useQueryClient } from '@tanstack/react-query';
import { $api, api } from '@/api/client';
import type { CleaningReport, CommitRequest, FindingKind, Thresholds } from '@/api/contract/datasets';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';
import { useLabelTask } from '../operations/labelTask';
import { useOperation } from '../operations/useOperation';

const REPORTS = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/cleaning/';
const REPORT = '/api/v1/projects/{project}/cleaning/{report_id}/';
const CANCEL = '/api/v1/projects/{project}/cleaning/{report_id}/cancel/';
const FINDINGS = '/api/v1/projects/{project}/cleaning/{report_id}/findings/';
const PATHS = '/api/v1/projects/{project}/cleaning/{report_id}/paths/';
const REMOVALS = '/api/v1/projects/{project}/cleaning/{report_id}/removals/';

const POLL_MS = 1000;
const PAGE = 60;
const MAX_SELECTED = 10_000;
const OPEN: ReadonlySet<string> = new Set(['pending', 'measuring', 'comparing']);

export const isOpen = (report: CleaningReport | undefined) => report !== undefined && OPEN.has(report.state);

/** The report that the URL names, else the version's newest; asked again while it is being made. */
export function useReport(dataset: string, ref: string, named: string | undefined) {
  const project = useProject();
  const poll = usePollMs();
  const list = $api.useQuery(
    'get',
    REPORTS,
    { params: { path: { project, dataset, ref }, query: { limit: 1 } } },
    { enabled: named === undefined },
  );
  const id = named ?? list.data?.results[0]?.id;
  const one = $api.useQuery(
    'get',
    REPORT,
    { params: { path: { project, report_id: id ?? '' } } },
    { enabled: id !== undefined, refetchInterval: ({ state }) => (isOpen(state.data) ? poll(POLL_MS) : false) },
  );
  return {
    report: one.data,
    hasNone: named === undefined && list.data?.results.length === 0,
    error: list.error ?? one.error,
    refetch: () => void (id === undefined ? list.refetch() : one.refetch()),
  };
}

export function useFindings(report: string, kind: FindingKind) {
  const project = useProject();
  const init = { params: { path: { project, report_id: report }, query: { kind, limit: PAGE } } };
  return useKeysetRows($api.useInfiniteQuery('get', FINDINGS, init, KEYSET));
}

export function useReportActions(dataset: string, ref: string) {
  const project = useProject();
  const client = useQueryClient();
  const refresh = () =>
    Promise.all([REPORTS, REPORT].map((path) => client.invalidateQueries({ queryKey: ['get', path] })));
  return {
    start: async (body: Thresholds) => {
      const { data } = await api.POST(REPORTS, { params: { path: { project, dataset, ref } }, body });
      await refresh();
      return data?.id;
    },
    cancel: async (report: string) => {
      await api.POST(CANCEL, { params: { path: { project, report_id: report } } });
      await refresh();
    },
  };
}

/** The actions on selected findings of a report. */
export function useFindingActions(dataset: string, report: string) {
  const project = useProject();
  const operation = useOperation(dataset);
  const path = { project, report_id: report };
  return {
    operation,
    /** Files of a kind that should go and are not `gone`, as many as one removal takes; and whether those are all. */
    pathsOf: async (kind: FindingKind, gone: ReadonlySet<string>) => {
      const paths: string[] = [];
      let cursor: string | undefined;
      do {
        const { data } = await api.GET(PATHS, { params: { path, query: { kind, cursor } } });
        paths.push(...(data?.paths ?? []).filter((one) => !gone.has(one)));
        cursor = data?.next ?? undefined;
      } while (cursor && paths.length < MAX_SELECTED);
      return { paths: paths.slice(0, MAX_SELECTED), isAll: !cursor && paths.length <= MAX_SELECTED };
    },
    remove: async (branch: string, paths: string[]) => {
      const { data } = await api.POST(REMOVALS, { params: { path }, body: { branch, paths } });
      return operation.follow(data as CommitRequest);
    },
    label: useLabelTask(dataset),
  };
}
