import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '@/api/client';
import type { CommitRequest } from '@/api/contract/datasets';
import { asApiError } from '@/api/errors';
import i18n from '@/i18n';
import { useProject } from '@/shared/domain/project';
import { untilDone } from '@/shared/live/untilDone';
import { notifyError, notifySuccess } from '@/shared/ui/undo';

const FOLDER_LABELS = '/api/v1/projects/{project}/datasets/{dataset}/folder-labels/';
const SPLITS = '/api/v1/projects/{project}/datasets/{dataset}/splits/';
/** A fifth to measure on is common; the dialog of the dataset draws any other split. */
export const TEST_SHARE = '20%';

/** The share of new splits to validate on. */
export const VAL_SHARE = '10%';

export type Making = 'label_by_folder' | 'make_test_split' | 'draw_splits';
type Path = { project: string; dataset: string };

async function askSplit(path: Path, branch: string, redraw: boolean): Promise<CommitRequest> {
  const body = (stratify: boolean) => ({
    branch,
    message: '',
    test: TEST_SHARE,
    val: redraw ? VAL_SHARE : 0,
    seed: 7,
    stratify,
    group_by: '',
    redraw,
    where: '',
    view: '',
  });
  const follow = async (stratify: boolean) => {
    const { data } = await api.POST(SPLITS, { params: { path }, body: body(stratify) });
    return untilDone(path, data as CommitRequest);
  };
  try {
    return await follow(true);
  } catch (error) {
    // Without labels, shares of each label cannot be held.
    if (asApiError(error).code !== 'split_unlabelled') throw error;
    return follow(false);
  }
}

async function askLabels(path: Path, branch: string): Promise<CommitRequest> {
  const { data } = await api.POST(FOLDER_LABELS, { params: { path }, body: { branch, message: '' } });
  return untilDone(path, data as CommitRequest);
}

/** Makes the next version of a dataset that lacks something, and tells its reference, such as `pets@v2`. */
export function useRemedies(dataset: string, branch: string, onVersion: (reference: string) => void) {
  const path = { project: useProject(), dataset };
  const client = useQueryClient();
  const [making, setMaking] = useState<Making | null>(null);
  const make = async (what: Making) => {
    setMaking(what);
    try {
      const done = await (what === 'label_by_folder'
        ? askLabels(path, branch)
        : askSplit(path, branch, what === 'draw_splits'));
      const reference = `${dataset}@${done.version?.ref ?? branch}`;
      await client.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] === 'get' && String(queryKey[1]).includes('/datasets/'),
      });
      notifySuccess(i18n.t(`preflight.made.${what}`, { reference }));
      onVersion(reference);
    } catch (error) {
      notifyError(error);
    } finally {
      setMaking(null);
    }
  };
  return { making, make };
}
