import { Badge, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { useFormat } from '@/shared/ui/format';
import { dueDay, isOverdue } from './due';

/** The day until which a task should be finished, and whether that has passed. */
export function DueDate({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!task.due_on) return null;
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex">
      <span className="tabular">{format.date(dueDay(task.due_on))}</span>
      {isOverdue(task) && (
        <Badge size="sm" color="red" variant="light">
          {t('labeling.plan.overdue')}
        </Badge>
      )}
    </Group>
  );
}
