import { Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { ButtonLink } from '@/shared/ui/links';

/** The way to a file of the task's labels; without an accepted one, the reason why there is none. */
export function ExportTask({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  if (task.modality !== 'image-objects') return null;
  if (task.progress.accepted === 0)
    return (
      <Text size="xs" c="dimmed" maw={240}>
        {t('labeling.exportNothing')}
      </Text>
    );
  return (
    <ButtonLink
      variant="default"
      leftSection={<IconDownload size={14} />}
      to="/datasets/$name/labels"
      params={{ name: task.dataset }}
      search={{ ref: task.output_version?.ref ?? task.dataset_ref, act: 'export', task: task.id }}
    >
      {t('labeling.export')}
    </ButtonLink>
  );
}
