import { Button, Group, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { notifySuccess } from '@/shared/ui/undo';
import { changePlan, TASK_KEY, TASKS_KEY } from '../queries';
import { DueDate } from './DueDate';
import { PlanFields } from './PlanFields';
import { PLAN_NAMES, type Plan, planBody } from './plan';

/** People, due date, priority and pre-labels of a task; a researcher changes them while people work. */
export function TaskPlan({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [changing, setChanging] = useState(false);
  const isDrawn = task.modality === 'image-objects';
  const names = task.assignees.map(({ username, full_name }) => full_name || username);
  return (
    <>
      <KeyValueList
        items={[
          [
            t('labeling.plan.people'),
            <Group gap="xs" key="people">
              <Text fz="inherit" style={{ overflowWrap: 'anywhere' }}>
                {names.join(', ') || t('labeling.plan.everybody')}
              </Text>
              {task.offers.includes('change') && (
                <Button size="compact-xs" variant="subtle" onClick={() => setChanging(true)}>
                  {t('labeling.plan.change')}
                </Button>
              )}
            </Group>,
          ],
          [t('labeling.plan.due'), task.due_on && <DueDate key="due" task={task} />],
          [t('labeling.plan.priority'), format.number(task.priority)],
          [t('labeling.plan.preLabel'), isDrawn && t(task.pre_label ? 'common.yes' : 'common.no')],
        ]}
      />
      <Dialog opened={changing} onClose={() => setChanging(false)} title={t('labeling.plan.title')} size="md">
        <PlanForm task={task} onDone={() => setChanging(false)} />
      </Dialog>
    </>
  );
}

function PlanForm({ task, onDone }: { task: LabelTask; onDone: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const form = useForm<Plan>({
    initialValues: {
      assignees: task.assignees.map(({ username }) => username),
      dueOn: task.due_on ?? '',
      priority: task.priority,
      preLabel: task.pre_label,
    },
    validate: {
      priority: (value) => (Number.isInteger(value) ? null : t('labeling.create.noNumber')),
    },
  });
  const send = async (plan: Plan) => {
    await changePlan(task.id, planBody(plan));
    notifySuccess(t('labeling.plan.changed'));
    for (const queryKey of [TASK_KEY, TASKS_KEY]) void client.invalidateQueries({ queryKey });
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone} fieldNames={PLAN_NAMES}>
      <PlanFields form={form} hasPreLabels={task.modality === 'image-objects'} />
    </FormFrame>
  );
}
