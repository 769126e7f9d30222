import { Select, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useProject } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useTemplates } from '../objects/queries';
import type { OntologyLabel, OntologySchema } from '../objects/types';
import { useVersionStats, versionClasses } from '../queries';
import { asDraft } from './ontologyDraft';
import type { TaskForm } from './taskForm';

interface Start {
  labels: readonly unknown[];
  schema: unknown;
}

const BLANK: Start = { labels: [], schema: {} };

/** Labels that are ready to start with, those of the version's objects too; each can be changed below. */
export function TemplateSelect({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const project = useProject();
  const [chosen, setChosen] = useState<string | null>(null);
  const { dataset, ref, modality } = form.values;
  const isDrawn = modality === 'image-objects';
  const source = `${dataset}@${ref}`;
  const stats = useVersionStats(dataset, ref).data;
  const drawn = isDrawn ? Object.values(stats?.object_labels ?? {}) : [];
  const templates = (useTemplates().data?.results ?? []).filter((one) => one.modality === modality);
  const fill = ({ labels, schema }: Start) => {
    form.clearErrors();
    form.setFieldValue('labels', (labels as OntologyLabel[]).map(asDraft));
    form.setFieldValue('schema', schema as OntologySchema);
  };
  const load = useMutation({
    mutationFn: (version: string) => versionClasses(project, version),
    onSuccess: (classes) => fill(classes ?? BLANK),
    onError: () => setChosen(null),
  });
  if (templates.length === 0 && drawn.length === 0) return null;
  const choose = (key: string | null) => {
    setChosen(key);
    if (key === source) load.mutate(source);
    else fill(templates.find((one) => one.key === key) ?? BLANK);
  };
  const objects = drawn.reduce((sum, count) => sum + count, 0);
  const ofVersion = t('labeling.ontology.ofVersion', { source, count: drawn.length, objects });
  return (
    <>
      <Select
        label={t('labeling.ontology.template')}
        description={t('labeling.ontology.templateHint')}
        placeholder={t('labeling.ontology.blank')}
        clearable
        disabled={load.isPending}
        data={[
          ...(drawn.length > 0 ? [{ value: source, label: ofVersion }] : []),
          ...templates.map(({ key, name }) => ({ value: key, label: name })),
        ]}
        value={chosen}
        onChange={choose}
      />
      {load.data?.complete === false && chosen === source && (
        <Text size="xs" c="dimmed" role="status">
          {t('labeling.ontology.notAll', { source })}
        </Text>
      )}
      {load.error && <ErrorState error={load.error} onRetry={() => choose(source)} retrying={load.isPending} />}
    </>
  );
}
