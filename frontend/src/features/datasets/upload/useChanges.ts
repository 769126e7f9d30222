import { useTranslation } from 'react-i18next';
import type { Version } from '@/api/contract/datasets';

type Counted = Pick<Version, 'ref' | 'added' | 'removed' | 'changed' | 'labels_changed'>;

/** Says what a version changed, counted as its comparison with the version before counts. */
export function useChanges(): (version: Counted) => string {
  const { t } = useTranslation();
  return ({ ref, added, removed, changed, labels_changed }) => {
    const labels = labels_changed ?? 0;
    const parts = [
      added > 0 && t('upload.change.added', { count: added }),
      changed > 0 && t('upload.change.changed', { count: changed }),
      removed > 0 && t('upload.change.removed', { count: removed }),
      labels > 0 && t('upload.change.labels', { count: labels }),
    ].filter(Boolean);
    const total = added + removed + changed + labels;
    return t('upload.doneNew', { version: ref, count: total, parts: parts.join(t('upload.change.comma')) });
  };
}
