import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '@/api/client';
import { useProject } from '@/shared/domain/project';
import { notifyError } from '@/shared/ui/undo';

const ONE = '/api/v1/projects/{project}/datasets/{dataset}/operations/{operation_id}/dismiss/';
const ALL = '/api/v1/projects/{project}/datasets/{dataset}/operations/dismiss/';

const HERE = ['dismissed-operations'];
const NONE: ReadonlySet<string> = new Set();

/** The operations that were dismissed on this page: they are gone before the server's list says so. */
export function useDismissed(): ReadonlySet<string> {
  return useQuery({ queryKey: HERE, queryFn: () => NONE, enabled: false, initialData: NONE }).data;
}

/** Has the server tell this person no more of operations that are over, in any browser. */
export function useDismiss(dataset: string) {
  const path = { project: useProject(), dataset };
  const client = useQueryClient();
  const change = (next: (old: Set<string>) => void) =>
    client.setQueryData<ReadonlySet<string>>(HERE, (old = NONE) => {
      const changed = new Set(old);
      next(changed);
      return changed;
    });
  const send = async (ids: readonly string[], ask: () => Promise<unknown>) => {
    change((shown) => ids.forEach((id) => void shown.add(id)));
    try {
      await ask();
    } catch (error) {
      change((shown) => ids.forEach((id) => void shown.delete(id)));
      notifyError(error);
    }
  };
  return {
    one: (id: string) => send([id], () => api.POST(ONE, { params: { path: { ...path, operation_id: id } } })),
    /** All that are over: `ids`, as far as this page knows. */
    all: (ids: readonly string[]) => send(ids, () => api.POST(ALL, { params: { path } })),
  };
}
