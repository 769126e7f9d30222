import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { suggestedName } from './runNames';
import type { StepProps } from './stepProps';

/** The run's name; left empty, it is made from the data and the parameters. */
export function NameField({ draft, dispatch, errors, workflow }: StepProps) {
  const { t } = useTranslation();
  const suggested = suggestedName(draft, workflow);
  return (
    <TextInput
      label={t('wizard.name')}
      description={suggested ? t('preflight.nameHint', { name: suggested }) : t('wizard.nameHint')}
      placeholder={suggested || undefined}
      value={draft.name}
      error={errors.name}
      onChange={(event) => dispatch({ type: 'set', values: { name: event.currentTarget.value } })}
    />
  );
}
