import { keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import type { Prediction, PredictionPage } from '@/api/contract/jobs';
import { KEYSET } from '@/api/keyset';
import { useProject } from '@/shared/domain/project';
import type { predictionsSearch } from '../search';

const TASKS = '/api/v1/projects/{project}/labelx/tasks/';
const PAGE = 60;

/** Pages of predictions that the address asks for. */
export function usePredictions(run: string, search: ReturnType<typeof predictionsSearch>) {
  const { order, confidence_min, confidence_max } = search;
  const wrong = search.wrong ? true : undefined;
  const filter = { true: search.true, predicted: search.predicted, wrong, order, confidence_min, confidence_max };
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/runs/{run_id}/predictions/',
    { params: { path: { run_id: run }, query: { ...filter, limit: PAGE } } },
    { ...KEYSET, placeholderData: keepPreviousData, retry: false },
  );
  const pages = query.data?.pages ?? [];
  return { query, page: pages[0], rows: pages.flatMap(({ results }) => results) };
}

/** Makes a label task of the files that are shown, with the labels that the model knows. */
export function useLabelAgain(page: PredictionPage) {
  const project = useProject();
  const client = useQueryClient();
  return async (name: string, rows: readonly Prediction[]) => {
    const { data } = await api.POST(TASKS, {
      params: { path: { project } },
      body: {
        name,
        dataset: `${page.dataset}@${page.ref}`,
        labels: page.labels.map((label) => ({ name: label })),
        filter: { labelled: null, paths: rows.map(({ path }) => path) },
      },
    });
    await client.invalidateQueries({ queryKey: keyOf(TASKS) });
    return data;
  };
}
