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

const DRAWN_BATCH = 8;

/** Makes a label task of the files that are shown: with the labels that the model knows, or for drawing. */
export function useLabelAgain(page: PredictionPage, detects: boolean) {
  const project = useProject();
  const client = useQueryClient();
  return async (name: string, rows: readonly Prediction[]) => {
    const dataset = `${page.dataset}@${page.ref}`;
    const answers = detects
      ? { modality: 'image-objects' as const, batch_size: DRAWN_BATCH, ...(await drawnClasses(project, dataset)) }
      : { labels: page.labels.map((label) => ({ name: label })) };
    // Without classes only a person can say what to draw.
    if (answers.labels.length === 0) return null;
    const { data } = await api.POST(TASKS, {
      params: { path: { project } },
      body: { name, dataset, ...answers, filter: { labelled: null, paths: picturesOf(rows) } },
    });
    await client.invalidateQueries({ queryKey: keyOf(TASKS) });
    return data;
  };
}

/** The paths of the pictures, each once: a picture with several objects has several rows. */
export const picturesOf = (rows: readonly Prediction[]): string[] => [...new Set(rows.map(({ path }) => path))];

/** The labels of the version's objects, with their shapes and attributes. */
async function drawnClasses(project: string, dataset: string) {
  const params = { path: { project }, query: { dataset } };
  const { data } = await api.GET('/api/v1/projects/{project}/labelx/version-classes/', { params });
  return { labels: data?.labels ?? [], schema: data?.schema ?? {} };
}
