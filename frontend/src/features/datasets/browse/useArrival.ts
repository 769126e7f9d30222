import { useMay } from '@/shared/domain/project';
import { useArrived } from '@/shared/live/useArrived';
import { useSigns } from '../importing/queries';
import { useCache, useQuarantinedPacks, useRefs, useStats, useVersion, type VersionAddress } from '../queries';

/** Counts of a very large version take longer; its files are not to wait for them. */
const PATIENCE_MS = 3000;

/**
 * Whether everything is there that stands above the files: facts, buttons and notices. The files come with it, not before
 * it: nothing that is looked at moves. Once it is there it stays, whatever is read again or for another version.
 */
export function useArrival(name: string, address: VersionAddress | null, shown: VersionAddress | undefined): boolean {
  const version = useVersion(name, address?.ref);
  const stats = useStats(name, shown?.ref);
  const cache = useCache(name, address?.ref);
  const packs = useQuarantinedPacks(name);
  const refs = useRefs(name);
  const mayImport = useMay('researcher');
  const signs = useSigns(name, shown?.ref, mayImport);
  const waits = [version, stats, cache, packs].some(({ isPending }) => isPending);
  return useArrived(
    !waits && !(mayImport && signs.isPending) && (refs.branches.length > 0 || !refs.isPending),
    PATIENCE_MS,
  );
}
