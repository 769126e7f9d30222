import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';

/** Which files match a task's filter and are not in it, and why; nothing when there are none. */
export function LeftOut({ leftOut }: { leftOut: LabelTask['left_out'] }) {
  const { t } = useTranslation();
  const { not_images, unreadable } = leftOut;
  return (
    <>
      {not_images > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {t('labeling.leftOutNotImages', { count: not_images })}
        </Text>
      )}
      {unreadable > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {t('labeling.leftOutUnreadable', { count: unreadable })}
        </Text>
      )}
    </>
  );
}
