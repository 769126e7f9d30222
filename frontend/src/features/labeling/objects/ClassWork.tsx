import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { notifyWarning } from '@/shared/ui/undo';
import { GridWork } from '../workspace/GridWork';
import { useLostNotice } from '../workspace/useLostNotice';
import { ontologyOfTask } from './ontology';
import { useClassBench } from './useClassBench';

/** The workspace of a task that asks for classes of whole pictures: many pictures at once, several classes each. */
export default function ClassWork({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const onLost = useLostNotice();
  const onBroughtBack = useCallback(
    (count: number) => notifyWarning(t('labeling.objects.broughtBack', { count })),
    [t],
  );
  const open = useClassBench(task, { onLost, onBroughtBack });
  return <GridWork task={task} open={open} multiple={ontologyOfTask(task).schema?.multiple ?? false} />;
}
