import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useProject } from '@/shared/domain/project';
import { setSecret } from '@/shared/domain/secrets';
import { FormFrame } from '@/shared/forms/FormFrame';
import classes from './secrets.module.css';

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

interface Props {
  /** The secret that gets another value; a new one if there is none. */
  name?: string;
  onKept: (name: string) => void;
  onCancel: () => void;
}

/** A value is typed or pasted here and never shown again. */
export function SecretForm({ name, onKept, onCancel }: Props) {
  const { t } = useTranslation();
  const project = useProject();
  const isNew = name === undefined;
  const [shown, setShown] = useState(false);
  const form = useForm({
    initialValues: { name: name ?? '', value: '', description: '' },
    validate: {
      name: (text) => (NAME.test(text.trim()) ? null : t('secrets.badName')),
      value: (text) => (text === '' ? t('secrets.valueNeeded') : null),
    },
  });
  const send = async (values: typeof form.values) => {
    const as = values.name.trim();
    await setSecret(project, as, { value: values.value, ...(isNew && { description: values.description.trim() }) });
    onKept(as);
  };
  return (
    <FormFrame form={form} send={send} submit={t(isNew ? 'secrets.create' : 'secrets.replace')} onCancel={onCancel}>
      {isNew && (
        <TextInput
          label={t('settings.tokenName')}
          description={t('secrets.nameHint')}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          required
          withAsterisk
          {...form.getInputProps('name')}
        />
      )}
      <Textarea
        label={t('secrets.value')}
        description={t('secrets.valueHint')}
        autoComplete="off"
        spellCheck={false}
        rows={5}
        data-autofocus={isNew ? undefined : true}
        classNames={{ input: classes.value }}
        data-hidden={!shown || undefined}
        required
        withAsterisk
        {...form.getInputProps('value')}
      />
      <Checkbox label={t('secrets.show')} checked={shown} onChange={(event) => setShown(event.currentTarget.checked)} />
      {isNew && <TextInput label={t('secrets.description')} {...form.getInputProps('description')} />}
    </FormFrame>
  );
}
