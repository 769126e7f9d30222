import { Alert } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { AnchorLink } from '@/shared/ui/links';

/** A task that was paused or published under the hands of somebody: what still counts. */
export function TaskNotice({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  if (task.state === 'active') return null;
  const words = task.state === 'paused' ? 'paused' : 'over';
  return (
    <Alert color={words === 'paused' ? 'blue' : 'orange'} variant="light" mb="sm" role="status">
      {t(`labeling.work.meanwhile.${words}`)}{' '}
      <AnchorLink to="/labeling/$taskId" params={{ taskId: task.id }} fz="inherit" underline="always">
        {t('labeling.work.toTask')}
      </AnchorLink>
    </Alert>
  );
}
