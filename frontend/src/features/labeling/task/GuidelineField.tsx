import { SegmentedControl, Stack, Textarea } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { whenReachable } from '@/shared/live/connection';

const Guideline = lazy(whenReachable(() => import('../objects/Guideline')));

interface GuidelineFieldProps {
  value?: string;
  error?: unknown;
  onChange?: (event: unknown) => void;
}

/** Advice for labelers in Markdown, and how they will see it. */
export function GuidelineField({ value = '', error, onChange }: GuidelineFieldProps) {
  const { t } = useTranslation();
  const [isPreview, setPreview] = useState(false);
  return (
    <Stack gap={4}>
      {isPreview ? (
        <section aria-label={t('labeling.guideline')}>
          <Suspense>
            <Guideline text={value || t('labeling.noGuideline')} />
          </Suspense>
        </section>
      ) : (
        <Textarea
          label={t('labeling.guideline')}
          description={t('labeling.create.guidelineHint')}
          rows={4}
          resize="vertical"
          value={value}
          error={typeof error === 'string' ? error : undefined}
          onChange={onChange}
        />
      )}
      <SegmentedControl
        size="xs"
        aria-label={t('labeling.create.guidelineView')}
        data={[
          { value: 'write', label: t('labeling.create.write') },
          { value: 'preview', label: t('labeling.create.preview') },
        ]}
        value={isPreview ? 'preview' : 'write'}
        onChange={(next) => setPreview(next === 'preview')}
      />
    </Stack>
  );
}
