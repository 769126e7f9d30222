import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { CreatedS3Key } from '@/api/contract/accounts';
import { useProject, useProjects } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { ExpirySelect, expiresAt } from '../keys/ExpirySelect';
import { useCreateS3Key } from '../queries';

interface Values {
  name: string;
  /** Null until one is chosen: then it is the current project, which may come later than the form. */
  project: string | null;
  days: string;
}

interface Props {
  onCreated: (created: CreatedS3Key) => void;
  onCancel: () => void;
}

export function NewS3KeyForm({ onCreated, onCancel }: Props) {
  const { t } = useTranslation();
  const current = useProject() || null;
  const projects = useProjects().data?.results ?? [];
  const { create } = useCreateS3Key();
  const form = useForm<Values>({
    initialValues: { name: '', project: null, days: '90' },
    validate: {
      name: (value) => (value.trim() ? null : t('settings.required')),
      project: (value) => ((value ?? current) ? null : t('settings.s3.chooseProject')),
    },
  });
  const project = form.values.project ?? current;
  const send = async ({ name, days }: Values) =>
    onCreated(await create({ name: name.trim(), project: project ?? '', expires_at: expiresAt(days, Date.now()) }));
  return (
    <FormFrame form={form} send={send} submit={t('settings.s3.create')} onCancel={onCancel}>
      <TextInput
        label={t('settings.tokenName')}
        description={t('settings.s3.nameHint')}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label={t('settings.project')}
          description={t('settings.s3.projectHint')}
          data={projects.map(({ slug, name }) => ({ value: slug, label: name || slug }))}
          allowDeselect={false}
          {...form.getInputProps('project')}
          value={project}
        />
        <ExpirySelect {...form.getInputProps('days')} />
      </SimpleGrid>
    </FormFrame>
  );
}
