import { useQueryClient } from '@tanstack/react-query';
import { $api, api } from '@/api/client';
import type { CommitRequest, EditStepRequest } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import type { Operation } from './operations/operation';
import type { SettlingBody } from './operations/useSettling';

const BRANCHES = '/api/v1/projects/{project}/datasets/{dataset}/branches/';
const BRANCH = '/api/v1/projects/{project}/datasets/{dataset}/branches/{name}/';
const TAGS = '/api/v1/projects/{project}/datasets/{dataset}/tags/';
const TAG = '/api/v1/projects/{project}/datasets/{dataset}/tags/{name}/';
const MERGES = '/api/v1/projects/{project}/datasets/{dataset}/merges/';
const MERGE_PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/merges/preview/';
const REVERTS = '/api/v1/projects/{project}/datasets/{dataset}/reverts/';
const REVERT_PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/reverts/preview/';
const PICKS = '/api/v1/projects/{project}/datasets/{dataset}/picks/';
const PICK_PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/picks/preview/';
const EDIT_PREVIEW = '/api/v1/projects/{project}/datasets/{dataset}/edits/preview/';
const EDITS = '/api/v1/projects/{project}/datasets/{dataset}/edits/';

// A branch may have moved since the last minute: a preview is asked for each time.
const FRESH = { staleTime: 0, gcTime: 0, retry: false } as const;

/** Everything that is shown of a dataset may have changed. */
export function useRefresh() {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({
      predicate: ({ queryKey }) => queryKey[0] === 'get' && String(queryKey[1]).includes('/datasets/'),
    });
}

function useDatasetPath(dataset: string) {
  return { project: useProject(), dataset };
}

export function useCreateRef(dataset: string, kind: 'branch' | 'tag') {
  const path = useDatasetPath(dataset);
  const refresh = useRefresh();
  return async (body: { name: string; at: string }) => {
    await (kind === 'branch'
      ? api.POST(BRANCHES, { params: { path }, body })
      : api.POST(TAGS, { params: { path }, body }));
    await refresh();
  };
}

/** Deletes a branch that is still at `head`. */
export function useDeleteBranch(dataset: string) {
  const path = useDatasetPath(dataset);
  const refresh = useRefresh();
  return async (name: string, head: string) => {
    await api.DELETE(BRANCH, { params: { path: { ...path, name }, query: { expected_head: head } } });
    await refresh();
  };
}

export function useDeleteTag(dataset: string) {
  const path = useDatasetPath(dataset);
  const refresh = useRefresh();
  return async (name: string) => {
    await api.DELETE(TAG, { params: { path: { ...path, name } } });
    await refresh();
  };
}

export interface MergeBody extends SettlingBody {
  source: string;
  branch: string;
  message: string;
}

export function useMergePreview(dataset: string, source: string, branch: string) {
  const path = useDatasetPath(dataset);
  const init = { params: { path }, body: { source, branch } };
  return $api.useQuery('post', MERGE_PREVIEW, init, {
    ...FRESH,
    enabled: source !== '' && branch !== '' && source !== branch,
  });
}

export function useMerge(dataset: string, { follow }: Operation) {
  const path = useDatasetPath(dataset);
  return async (body: MergeBody) => {
    const { data } = await api.POST(MERGES, { params: { path }, body });
    return follow(data as CommitRequest);
  };
}

export interface RevertBody extends SettlingBody {
  version: string;
  branch: string;
  message: string;
}

export function useRevertPreview(dataset: string, version: string, branch: string) {
  const path = useDatasetPath(dataset);
  const init = { params: { path }, body: { version, branch } };
  return $api.useQuery('post', REVERT_PREVIEW, init, FRESH);
}

export function useRevert(dataset: string, { follow }: Operation) {
  const path = useDatasetPath(dataset);
  return async (body: RevertBody) => {
    const { data } = await api.POST(REVERTS, { params: { path }, body });
    return follow(data as CommitRequest);
  };
}

/** Edits a branch as one version; with `head`, only if it is still there. */
export function useEdit(dataset: string, { follow }: Operation) {
  const path = useDatasetPath(dataset);
  return async (branch: string, head: string | null, edits: EditStepRequest[], message = '') => {
    const body = { branch, expected_head: head, edits, message };
    const { data } = await api.POST(EDITS, { params: { path }, body });
    return follow(data as CommitRequest);
  };
}

/** The effect of one edit on a branch; `null` while there is nothing to ask yet. */
export function useEditPreview(dataset: string, branch: string, edit: EditStepRequest | null) {
  const path = useDatasetPath(dataset);
  const init = { params: { path }, body: { branch, edits: edit ? [edit] : [] } };
  return $api.useQuery('post', EDIT_PREVIEW, init, { ...FRESH, enabled: edit !== null });
}

export interface PickBody {
  source: string;
  branch: string;
  paths: string[];
  changes_only: boolean;
}

/** The effect of a cherry-pick; not asked without paths unless the version's own changes are picked. */
export function usePickPreview(dataset: string, body: PickBody) {
  const path = useDatasetPath(dataset);
  const enabled = body.paths.length > 0 || body.changes_only;
  return $api.useQuery('post', PICK_PREVIEW, { params: { path }, body }, { ...FRESH, enabled });
}

export function usePick(dataset: string, { follow }: Operation) {
  const path = useDatasetPath(dataset);
  return async (body: PickBody & SettlingBody & { message: string }) => {
    const { data } = await api.POST(PICKS, { params: { path }, body });
    return follow(data as CommitRequest);
  };
}
