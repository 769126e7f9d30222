import { Group, Progress, Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LabelProgress } from '@/api/contract/labeling';
import { useFormat } from '@/shared/ui/format';
import { SEGMENTS } from './progress';

interface TaskProgressProps {
  progress: LabelProgress;
  legend?: boolean;
  /** Makes a button of "Being labelled", which opens its images. */
  labeling?: { opened: boolean; onPress: () => void } | undefined;
}

/** One bar with a segment per state; the counts stand below in words. */
export function TaskProgress({ progress, legend = true, labeling }: TaskProgressProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const total = Math.max(1, progress.total);
  // Most tasks leave nothing out.
  const shown = SEGMENTS.filter(({ key }) => key !== 'left_out' || progress.left_out > 0);
  const used = SEGMENTS.filter(({ key }) => progress[key] > 0);
  const words = used.map(({ key }) => t('labeling.countOf', { name: t(`labeling.item.${key}`), count: progress[key] }));
  return (
    <div>
      <Progress.Root size={legend ? 'lg' : 'sm'} role="img" aria-label={words.join(', ') || t('common.none')}>
        {used
          .filter(({ key }) => key !== 'ready')
          .map(({ key, color }) => (
            <Progress.Section key={key} value={(progress[key] / total) * 100} color={color} withAria={false} />
          ))}
      </Progress.Root>
      {legend && (
        <Group gap="lg" mt={6}>
          {shown.map(({ key, color }) => (
            <Group key={key} gap={6}>
              <span
                aria-hidden
                style={{ width: 9, height: 9, borderRadius: 3, background: `var(--mantine-color-${color}-filled)` }}
              />
              {key === 'labeling' && labeling ? (
                <UnstyledButton fz="xs" td="underline" aria-expanded={labeling.opened} onClick={labeling.onPress}>
                  {t('labeling.item.labeling')}
                </UnstyledButton>
              ) : (
                <Text size="xs">{t(`labeling.item.${key}`)}</Text>
              )}
              <Text size="xs" fw={650} className="tabular">
                {format.number(progress[key])}
              </Text>
            </Group>
          ))}
        </Group>
      )}
    </div>
  );
}
