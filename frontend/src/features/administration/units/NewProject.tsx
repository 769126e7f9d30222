import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { rememberProject } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { createProject, useOwnUnits, useRefreshTree } from './queries';
import { slugOf } from './slugOf';
import { topUnit } from './topUnit';
import { UnitSelect } from './UnitSelect';

interface NewProjectProps {
  opened: boolean;
  onClose: () => void;
  /** Its unit, unless it is to be chosen. */
  unit?: string;
}

interface Values {
  name: string;
  slug: string;
  unit: string | null;
}

export function NewProject({ opened, onClose, unit }: NewProjectProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('people.newProject')} size="md">
      <NewProjectForm unit={unit} onDone={onClose} />
    </Dialog>
  );
}

function NewProjectForm({ unit, onDone }: { unit?: string; onDone: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshTree();
  const navigate = useNavigate();
  const fallback = topUnit(useOwnUnits());
  const form = useForm<Values>({
    initialValues: { name: '', slug: '', unit: unit ?? null },
    validate: {
      name: (value) => (value.trim() ? null : t('people.required')),
      slug: (value) => (value ? null : t('people.required')),
      unit: (value) => ((value ?? fallback) ? null : t('people.chooseUnit')),
    },
  });
  const send = async ({ name, slug, unit: chosen }: Values) => {
    await createProject({ name: name.trim(), slug, unit: chosen ?? fallback });
    await refresh();
    notifySuccess(t('people.projectMade', { name: name.trim() }));
    onDone();
    rememberProject(slug);
    void navigate({ to: '/', search: { project: slug } });
  };
  const rename = (name: string) => {
    // The address follows the name until somebody writes their own.
    if (form.values.slug === slugOf(form.values.name)) form.setFieldValue('slug', slugOf(name));
    form.setFieldValue('name', name);
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.create')} onCancel={onDone}>
      <TextInput
        label={t('common.name')}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
        onChange={(event) => rename(event.currentTarget.value)}
      />
      <TextInput
        label={t('people.slug')}
        description={t('people.slugHint')}
        autoComplete="off"
        {...form.getInputProps('slug')}
      />
      {unit === undefined && (
        <UnitSelect {...form.getInputProps('unit')} value={form.values.unit ?? fallback ?? null} />
      )}
    </FormFrame>
  );
}
