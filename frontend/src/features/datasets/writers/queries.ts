import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { CommitRequest, Side, WriteJob, Writer } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';
import { untilDone } from '@/shared/live/untilDone';
import { useRefresh } from '../operationQueries';

const WRITERS = '/api/v1/projects/{project}/datasets/{dataset}/writers/';
const WRITER_COMMIT = '/api/v1/projects/{project}/datasets/{dataset}/writers/{writer_id}/commit/';
const WRITER_ABANDON = '/api/v1/projects/{project}/datasets/{dataset}/writers/{writer_id}/abandon/';
const JOBS = '/api/v1/projects/{project}/datasets/{dataset}/write-jobs/';
const JOB_COMMIT = '/api/v1/projects/{project}/datasets/{dataset}/write-jobs/{write_job_id}/commit/';
const JOB_ABORT = '/api/v1/projects/{project}/datasets/{dataset}/write-jobs/{write_job_id}/abort/';

const CHANGED = [WRITERS, JOBS] as const;
const POLL_MS = 5000;
const MOST = 200;

/** A writer, or a job of many of them. */
export type Open = { kind: 'writer'; row: Writer } | { kind: 'job'; row: WriteJob };

/** The open writers of a dataset, jobs first; undefined while it is asked for. */
export function useOpenWriters(dataset: string) {
  const project = useProject();
  const poll = usePollMs();
  const init = { params: { path: { project, dataset }, query: { open: true, limit: MOST } } };
  const writers = $api.useQuery('get', WRITERS, init, { refetchInterval: poll(POLL_MS) });
  const jobs = $api.useQuery('get', JOBS, init, { refetchInterval: poll(POLL_MS) });
  const rows: Open[] = [
    ...(jobs.data?.results ?? []).map((row): Open => ({ kind: 'job', row })),
    // Attempts are counted with their job.
    ...(writers.data?.results ?? [])
      .filter(({ write_job }) => write_job === null)
      .map((row): Open => ({ kind: 'writer', row })),
  ];
  return {
    rows: writers.data && jobs.data ? rows : undefined,
    error: writers.error ?? jobs.error,
    refetch: () => void Promise.all([writers.refetch(), jobs.refetch()]),
  };
}

/** Asks for the version and follows the request to its end. */
export function useCommitWriter(dataset: string) {
  const path = { project: useProject(), dataset };
  const refresh = useRefresh();
  return async ({ kind, row }: Open, on_conflict: Side) => {
    const body = { on_conflict };
    const { data } =
      kind === 'writer'
        ? await api.POST(WRITER_COMMIT, { params: { path: { ...path, writer_id: row.id } }, body })
        : await api.POST(JOB_COMMIT, { params: { path: { ...path, write_job_id: row.id } }, body });
    try {
      return await untilDone(path, data as CommitRequest);
    } finally {
      await refresh();
    }
  };
}

export function useAbandonWriter(dataset: string) {
  const path = { project: useProject(), dataset };
  const client = useQueryClient();
  return async ({ kind, row }: Open) => {
    await (kind === 'writer'
      ? api.POST(WRITER_ABANDON, { params: { path: { ...path, writer_id: row.id } } })
      : api.POST(JOB_ABORT, { params: { path: { ...path, write_job_id: row.id } } }));
    await Promise.all(CHANGED.map((one) => client.invalidateQueries({ queryKey: keyOf(one) })));
  };
}
