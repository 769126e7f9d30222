import { keepPreviousData } from '@tanstack/react-query';
import { $api } from '@/api/client';
import type { DiffKind } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';

const DIFF = '/api/v1/projects/{project}/datasets/{dataset}/diff/';
// Cards of one page: however many changes there are, no more are in the document.
export const PAGE = 60;

export interface DiffAsked {
  from: string | undefined;
  to: string | undefined;
  kind?: DiffKind | undefined;
  /** Paths that begin with it. */
  path?: string | undefined;
  /** A label that became another one; empty is none. */
  was?: string | undefined;
  now?: string | undefined;
}

/** Changes from a number on; while others are on their way, those that were shown. */
export function useDiff(dataset: string, asked: DiffAsked, offset: number, limit: number) {
  const project = useProject();
  const { from = '', to = '', kind, path: prefix, was, now } = asked;
  const labels = was === undefined || now === undefined ? {} : { old_label: was, new_label: now };
  const query = { from, to, kind, prefix, ...labels, offset, limit };
  const enabled = from !== '' && to !== '' && from !== to;
  const init = { params: { path: { project, dataset }, query } };
  return $api.useQuery('get', DIFF, init, { enabled, placeholderData: keepPreviousData });
}
