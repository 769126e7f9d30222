import { NumberInput, SimpleGrid, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { PeopleField } from './PeopleField';
import type { Plan } from './plan';

interface PlanFieldsProps {
  // The form of a new task has more fields than a plan, and no type says "a form with at least these".
  form: Pick<UseFormReturnType<Plan>, 'getInputProps'>;
  hasPreLabels: boolean;
}

export function PlanFields({ form, hasPreLabels }: PlanFieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <PeopleField {...form.getInputProps('assignees')} />
      <SimpleGrid cols={2}>
        <TextInput type="date" max="9999-12-31" label={t('labeling.plan.due')} {...form.getInputProps('dueOn')} />
        <NumberInput
          label={t('labeling.plan.priority')}
          description={t('labeling.plan.priorityHint')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          min={-100}
          max={100}
          allowDecimal={false}
          {...form.getInputProps('priority')}
        />
      </SimpleGrid>
      {hasPreLabels && (
        <Switch
          label={t('labeling.plan.preLabel')}
          description={t('labeling.plan.preLabelHint')}
          {...form.getInputProps('preLabel', { type: 'checkbox' })}
        />
      )}
    </>
  );
}
