import { Group, Text, Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';

interface ChangeCountsProps {
  added: number;
  removed: number;
  changed: number;
  /** Null where nobody counted them. */
  labels_changed?: number | null;
}

/** The meaning of the signs of `ChangeCounts`. */
export function ChangeLegend() {
  const { t } = useTranslation();
  return (
    <Text size="xs" c="dimmed" mb={4}>
      {t('datasets.changeLegend')}
    </Text>
  );
}

/** `+120 −3 ~7 #2`: the sign tells, not the colour alone. */
export function ChangeCounts({ added, removed, changed, labels_changed }: ChangeCountsProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const parts = [
    { sign: '+', count: added, label: t('datasets.added'), color: 'teal' },
    { sign: '−', count: removed, label: t('datasets.removed'), color: 'red' },
    { sign: '~', count: changed, label: t('datasets.changed'), color: 'orange' },
    { sign: '#', count: labels_changed ?? 0, label: t('datasets.labels_changed'), color: 'blue' },
  ].filter(({ count }) => count > 0);
  if (parts.length === 0)
    return (
      <Text size="xs" c="dimmed">
        {t('datasets.unchanged')}
      </Text>
    );
  return (
    <Group gap={8} wrap="nowrap">
      {parts.map(({ sign, count, label, color }) => (
        <Tooltip key={sign} label={label}>
          <Text span size="sm" fw={550} c={`var(--mantine-color-${color}-light-color)`} className="tabular">
            {sign}
            {format.number(count)}
          </Text>
        </Tooltip>
      ))}
    </Group>
  );
}
