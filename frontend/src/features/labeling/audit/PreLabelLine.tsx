import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PreLabelEdits } from '@/api/contract/labeling';
import { changedOf, preLabelledOf } from '../preLabelEdits';

/** How far the labeler's work is from the pre-label; a dash where it did not begin with one. */
export function PreLabelLine({ edits }: { edits: PreLabelEdits | null }) {
  const { t } = useTranslation();
  if (!edits)
    return (
      <Text size="xs" c="dimmed">
        {t('labeling.preLabels.title')}: –
      </Text>
    );
  return (
    <Text size="xs" c="dimmed">
      {t('labeling.preLabels.changed', { changed: changedOf(edits), count: preLabelledOf(edits) })}
      {edits.added > 0 && ` · ${t('labeling.preLabels.added', { count: edits.added })}`}
    </Text>
  );
}
