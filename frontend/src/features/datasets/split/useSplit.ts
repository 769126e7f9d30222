import { useQuery } from '@tanstack/react-query';
import { $api, api } from '@/api/client';
import type { SplitQuery } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import type { Operation } from '../operations/operation';

const SPLITS = '/api/v1/projects/{project}/datasets/{dataset}/splits/';
const PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/split-preview/';

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
export function useSplit(dataset: string, { follow }: Operation) {
  const project = useProject();
  const { mutateAsync } = $api.useMutation('post', SPLITS);
  return async (form: SplitForm): Promise<string> => {
    const asked = await mutateAsync({ params: { path: { project, dataset } }, body: queryOfForm(form) });
    const { version } = await follow(asked);
    return version?.ref ?? '';
  };
}
