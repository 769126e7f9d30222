/** Changes of others to the branch between the beginning of an upload and its end. No React. */
import type { StoredFile, Version } from '@/api/contract/datasets';
import { asApiError } from '@/api/errors';

export interface Meanwhile {
  /** Files that others put there since the upload began, and that it replaces. */
  replaced: string[];
}

interface Stored {
  storedAt: (ref: string, paths: readonly string[]) => Promise<Pick<StoredFile, 'path' | 'digest'>[]>;
}

/** Null where the branch is where it was; `began` is the commit that it was at then, null for none. */
export async function meanwhileOf(
  api: Stored,
  began: string | null,
  head: Pick<Version, 'commit'> | null,
  puts: readonly { path: string }[],
): Promise<Meanwhile | null> {
  if (!head || head.commit === began) return null;
  const paths = puts.map(({ path }) => path);
  const digests = async (ref: string | null) =>
    new Map((ref === null ? [] : await api.storedAt(ref, paths)).map(({ path, digest }) => [path, digest]));
  const now = await digests(head.commit);
  try {
    const then = await digests(began);
    return { replaced: paths.filter((path) => now.has(path) && now.get(path) !== then.get(path)) };
  } catch (error) {
    // It may have expired: what it had is not known any more.
    if (asApiError(error).status < 400 || asApiError(error).status >= 500) throw error;
    return { replaced: [] };
  }
}
