import { Button, Group, Text } from '@mantine/core';
import { IconChecks, IconPolygon, IconTrash, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { FindingCount } from '@/api/contract/datasets';

interface SelectionBarProps {
  count: FindingCount;
  selected: number;
  onAll: () => void;
  onClear: () => void;
  onRemove: () => void;
  onLabel: () => void;
}

/** The actions on the selected findings. */
export function SelectionBar({ count, selected, onAll, onClear, onRemove, onLabel }: SelectionBarProps) {
  const { t } = useTranslation();
  const all = count.groups > 0 ? 'cleaning.selectLeaving' : 'cleaning.selectAll';
  return (
    <Group gap="xs" my="sm" role="toolbar" aria-label={t('versioning.selected', { count: selected })}>
      {count.items > 0 && (
        <Button data-first-action size="xs" variant="default" leftSection={<IconChecks size={14} />} onClick={onAll}>
          {t(all, { count: count.items })}
        </Button>
      )}
      <Text size="sm" role="status">
        {t('versioning.selected', { count: selected })}
      </Text>
      {selected > 0 && (
        <>
          <Button size="xs" leftSection={<IconTrash size={14} />} onClick={onRemove}>
            {t('cleaning.remove')}
          </Button>
          <Button size="xs" variant="default" leftSection={<IconPolygon size={14} />} onClick={onLabel}>
            {t('cleaning.label')}
          </Button>
          <Button size="xs" variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={onClear}>
            {t('versioning.clear')}
          </Button>
        </>
      )}
    </Group>
  );
}
