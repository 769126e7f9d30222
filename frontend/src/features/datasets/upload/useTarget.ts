import { useDebouncedValue } from '@mantine/hooks';
import { asApiError } from '@/api/errors';
import { useDataset, useOtherDatasets } from '../queries';

export const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const TYPING_MS = 300;

/** The dataset that is named: names to choose from, and whether it is there; undefined while that is not known. */
export function useTarget(dataset: string) {
  const names = useOtherDatasets('', dataset);
  const [settled] = useDebouncedValue(dataset, TYPING_MS);
  const asked = useDataset(settled, NAME.test(settled));
  const isMissing = asked.error !== null && asApiError(asked.error).status === 404;
  const isKnown = (): boolean | undefined => {
    if (names.includes(dataset)) return true;
    if (!NAME.test(dataset)) return false;
    // The names are one page of them: one that is not among them may be there all the same.
    if (settled !== dataset) return undefined;
    return isMissing ? false : asked.data && true;
  };
  const isThere = isKnown();
  return {
    names,
    isThere,
    error: isThere === undefined && settled === dataset ? asked.error : null,
    refetch: () => void asked.refetch(),
  };
}
