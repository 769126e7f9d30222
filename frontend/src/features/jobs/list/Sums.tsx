import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';
import { hoursText } from '../hours';
import { type RunListQuery, useRunSums } from './listQueries';

/** How many runs the filters leave and what they have cost together. */
export function Sums({ filter, enabled }: { filter: RunListQuery; enabled: boolean }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { data, error } = useRunSums(filter, enabled);
  if (error && !data) return null; // The list below says what is wrong.
  return (
    <Text size="sm" c="dimmed" mb="xs" title={t('runs.costHint')} aria-live="polite">
      {/* The line is there before its words: the list below does not move. */}
      {data
        ? [
            t('runs.count', { count: data.count }),
            t('runs.cpuHours', { hours: hoursText(format, data.cpu_hours) }),
            t('runs.gpuHours', { hours: hoursText(format, data.gpu_hours) }),
          ].join(' · ')
        : '\u00a0'}
    </Text>
  );
}
