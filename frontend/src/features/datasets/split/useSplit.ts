import { useQuery, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { SplitQuery } from '@/api/contract/datasets';
import { ApiError } from '@/api/errors';
import { useProject } from '@/shared/project';

const DATASET = '/api/v1/projects/{project}/datasets/{dataset}/';
const SPLITS = '/api/v1/projects/{project}/datasets/{dataset}/splits/';
const COMMIT = '/api/v1/projects/{project}/datasets/{dataset}/commits/{commit_id}/';
const PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/split-preview/';

const POLL_MS = 500;
const pause = () => new Promise((done) => setTimeout(done, POLL_MS));

export interface SplitForm {
  test: string;
  val: string;
  seed: number | string;
  stratify: boolean;
  group_by: string;
  redraw: boolean;
  view: string;
  where: string;
}

export function queryOfForm(form: SplitForm): SplitQuery {
  return {
    test: form.test.trim() || '0',
    val: form.val.trim() || '0',
    seed: Number(form.seed) || 0,
    stratify: form.stratify,
    group_by: form.group_by.trim(),
    redraw: form.redraw,
    view: form.view,
    where: form.where.trim(),
  };
}

/** How many files of each label every split would get. */
export function useSplitPreview(dataset: string, ref: string, form: SplitForm, enabled: boolean) {
  const project = useProject();
  const query = queryOfForm(form);
  return useQuery({
    queryKey: ['split-preview', project, dataset, ref, query],
    queryFn: async ({ signal }) => {
      const path = { project, dataset, ref };
      const { data } = await api.GET(PREVIEW, { params: { path, query }, signal });
      return data?.splits ?? [];
    },
    enabled,
    retry: false,
    placeholderData: (last) => last,
  });
}

/** Splits the head of `main` and waits for the new version; returns its ref. */
export function useSplit(dataset: string) {
  const project = useProject();
  const client = useQueryClient();
  const { mutateAsync } = $api.useMutation('post', SPLITS);
  return async (form: SplitForm): Promise<string> => {
    const path = { project, dataset };
    let request = await mutateAsync({ params: { path }, body: queryOfForm(form) });
    while (request.state === 'pending' || request.state === 'building') {
      await pause();
      const { data } = await api.GET(COMMIT, { params: { path: { ...path, commit_id: request.id } } });
      if (data) request = data;
    }
    if (request.error || !request.version)
      throw new ApiError({
        status: 409,
        code: request.error?.code ?? 'conflict',
        title: request.error?.detail ?? '',
        action: request.error?.action ?? '',
      });
    await client.invalidateQueries({ queryKey: keyOf(DATASET) });
    return request.version.ref;
  };
}
