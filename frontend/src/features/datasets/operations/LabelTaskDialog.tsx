import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { notifySuccess } from '@/shared/ui/undo';
import { LabelDialog } from '../cleaning/LabelDialog';
import { useVersion } from '../queries';
import { type LabelledFiles, useLabelPreview, useLabelTask } from './labelTask';

interface LabelTaskDialogProps extends LabelledFiles {
  name: string;
  source: string;
  count: number;
  onClose: () => void;
  onDone: () => void;
}

/** Makes a label task of chosen files, or of all that match. */
export function LabelTaskDialog({ name, source, of, isMatching, count, onClose, onDone }: LabelTaskDialogProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const ref = useVersion(name, source).data?.ref ?? source;
  const make = useLabelTask(name);
  const files = isMatching ? t('versioning.matchingFiles') : t('versioning.chosenFiles');
  const preview = useLabelPreview(name, ref, { of, isMatching });
  const send = async (taskName: string, labels: string[]) => {
    const task = await make(ref, taskName, labels, { of, isMatching });
    notifySuccess(t('versioning.labelTaskMade', { name: taskName }));
    onClose();
    onDone();
    // Its items may still be on their way: its page shows how many are there.
    if (isMatching && task) await navigate({ to: '/labeling/$taskId', params: { taskId: task.id } });
  };
  return (
    <LabelDialog
      dataset={name}
      versionRef={ref}
      taskName={t('versioning.taskName', { dataset: name, ref, files })}
      count={preview?.items ?? count}
      opened
      onClose={onClose}
      send={send}
    >
      {preview && (
        <Text size="sm" c={preview.items > 0 ? 'dimmed' : 'red'} role="status">
          {[
            t('versioning.taskImages', { count: preview.items }),
            preview.left_out.not_images > 0 && t('versioning.taskNotImages', { count: preview.left_out.not_images }),
            preview.left_out.unreadable > 0 && t('versioning.taskUnreadable', { count: preview.left_out.unreadable }),
          ]
            .filter(Boolean)
            .join(' ')}
        </Text>
      )}
    </LabelDialog>
  );
}
