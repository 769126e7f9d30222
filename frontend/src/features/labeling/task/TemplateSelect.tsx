import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useTemplates } from '../objects/queries';
import type { OntologyLabel, OntologySchema } from '../objects/types';
import { asDraft } from './ontologyDraft';
import type { TaskForm } from './taskForm';

/** Labels that are ready to start with; each can be changed below. */
export function TemplateSelect({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const templates = (useTemplates().data?.results ?? []).filter(({ modality }) => modality === 'image-objects');
  if (templates.length === 0) return null;
  const choose = (key: string | null) => {
    const template = templates.find((one) => one.key === key);
    form.clearErrors();
    form.setFieldValue('labels', ((template?.labels ?? []) as OntologyLabel[]).map(asDraft));
    form.setFieldValue('schema', (template?.schema ?? {}) as OntologySchema);
  };
  return (
    <Select
      label={t('labeling.ontology.template')}
      description={t('labeling.ontology.templateHint')}
      placeholder={t('labeling.ontology.blank')}
      clearable
      data={templates.map(({ key, name }) => ({ value: key, label: name }))}
      onChange={choose}
    />
  );
}
