import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { PreflightCheck } from '@/api/contract/jobs';

/** The count that decides between singular and plural, by code. */
const COUNTED: Partial<Record<PreflightCheck['code'], string>> = {
  fits: 'files',
  no_labels: 'files',
  no_objects: 'files',
  some_not_annotated: 'missing',
  only_links: 'links',
  all_in_train: 'files',
  no_media: 'files',
  some_unlabelled: 'unlabelled',
  too_few_classes: 'classes',
  some_unreadable: 'count',
  sample_unreadable: 'count',
  seen_in_training: 'seen',
};

/** A finding in the reader's language, by its code and parameters; an unknown one as the server says it. */
export function useCheckWords() {
  const { t } = useTranslation();
  return useCallback(
    ({ code, params, sentence }: PreflightCheck): string => {
      const values = params as Record<string, unknown>;
      const kind = code === 'fits' ? fitsWords(values) : code;
      const media = typeof values.media === 'string' ? t(`preflight.media.${values.media}` as never) : undefined;
      const count = Number(values[COUNTED[code] ?? ''] ?? 0);
      return String(
        t(`preflight.check.${kind}` as never, { ...values, media, count, defaultValue: sentence } as never),
      );
    },
    [t],
  );
}

/** The sentence tells only counts that the server took. */
function fitsWords(values: Record<string, unknown>) {
  if (values.objects !== undefined) return 'fits_objects';
  return values.labelled === undefined ? 'fits_plain' : 'fits';
}
