import type { UseFormReturnType } from '@mantine/form';
import { useDidUpdate } from '@mantine/hooks';
import type { OperationPreview, Resolution, Side } from '@/api/contract/datasets';
import { asApiError } from '@/api/errors';
import { countSettled, resolutionsOf, type Settling, UNSETTLED } from './settling';

interface Asked {
  data?: OperationPreview | undefined;
  isLoading: boolean;
  refetch: () => unknown;
}

/** The fields that settle conflicts: single ones are settled for the head on which they were seen. */
export interface SettlingBody {
  on_conflict: Side;
  resolutions?: Resolution[];
  expected_head?: string;
}

const SEEN_ANEW = ['head_moved', 'merge_conflict', 'not_in_conflict'];

/**
 * The conflicts of a dialog's preview, as its form settles them. The choices are forgotten when `between`, the versions
 * that meet, changes. `isReady` is true once the preview is there and nothing is left to settle.
 */
export function useSettling<T extends Settling>(
  form: Pick<UseFormReturnType<T>, 'values' | 'setValues'>,
  preview: Asked,
  between: string,
) {
  const { on_conflict, sides } = form.values;
  const settling = { on_conflict, sides };
  const settle = (next: Settling) => form.setValues(next as Partial<T>);
  useDidUpdate(() => settle(UNSETTLED), [between]);
  const { data } = preview;
  const isReady = !preview.isLoading && (!data || countSettled(settling, data) === data.conflicts_total);
  /** Sends what is settled; when the versions are others by now, the conflicts are looked at anew. */
  const send = async <R>(operation: (body: SettlingBody) => Promise<R>): Promise<R> => {
    const resolutions = data ? resolutionsOf(settling, data) : [];
    const seen = data && resolutions.length > 0 ? { resolutions, expected_head: data.head.commit } : {};
    try {
      return await operation({ on_conflict, ...seen });
    } catch (thrown) {
      if (SEEN_ANEW.includes(asApiError(thrown).code)) void preview.refetch();
      throw thrown;
    }
  };
  return { settling, settle, isReady, send, found: data };
}

export type DialogSettling = ReturnType<typeof useSettling>;
