import { useQueryClient } from '@tanstack/react-query';
import { $api, api, keyOf } from '@/api/client';
import { useProject } from '@/shared/domain/project';
import type { AttributesOf } from './of';

const TASKS = '/api/v1/projects/{project}/labelx/tasks/';
const PREVIEW = '/api/v1/projects/{project}/labelx/task-preview/';

/** Files that are named one by one, or the question that finds them. */
export interface LabelledFiles {
  of: AttributesOf;
  /** Whether it is a question; its path, if there is one, is a folder. */
  isMatching: boolean;
}

const asked = ({ of: { paths, where, view } }: LabelledFiles) => ({
  prefix: paths[0] ?? '',
  where: where ?? '',
  view: view ?? '',
});

/** Makes a label task of files of a version, labelled or not. */
export function useLabelTask(dataset: string) {
  const project = useProject();
  const client = useQueryClient();
  return async (ref: string, name: string, labels: string[], files: LabelledFiles) => {
    const which = files.isMatching ? asked(files) : { paths: [...files.of.paths] };
    const { data } = await api.POST(TASKS, {
      params: { path: { project } },
      body: {
        name,
        dataset: `${dataset}@${ref}`,
        labels: labels.map((label) => ({ name: label })),
        filter: { labelled: null, ...which },
      },
    });
    await client.invalidateQueries({ queryKey: keyOf(TASKS) });
    return data;
  };
}

/** How many images a question leaves for a task; not asked for files that are named. */
export function useLabelPreview(dataset: string, ref: string, files: LabelledFiles) {
  const project = useProject();
  const query = { dataset: `${dataset}@${ref}`, labelled: 'any' as const, ...asked(files) };
  return $api.useQuery('get', PREVIEW, { params: { path: { project }, query } }, { enabled: files.isMatching }).data;
}
