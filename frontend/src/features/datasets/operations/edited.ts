import type { Version } from '@/api/contract/datasets';
import i18n from '@/i18n';
import { notifySuccess } from '@/shared/ui/undo';

/** Told the branch that was changed, and the version that it is at now. */
export type OnVersion = (branch: string, ref: string) => void;

/** Says what an edit did; one that changes nothing makes no version. */
export function notifyEdited(branch: string, unchanged: boolean, version: Version | null): void {
  notifySuccess(
    unchanged ? i18n.t('versioning.nothing') : i18n.t('versioning.edited', { branch, ref: version?.ref ?? '' }),
  );
}

/**
 * The reference of a page after its branch was changed. It is the branch, so that the next edit goes there too. For
 * main, which numbers its versions, it is the version. A page without a reference shows the newest of main and goes on
 * doing so.
 */
export const refAfter = (shown: string | undefined, branch: string, ref: string): string | undefined =>
  shown && (branch === 'main' && shown !== 'main' ? ref : branch);
