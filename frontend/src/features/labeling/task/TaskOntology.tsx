import { Button, Drawer, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask, NewOntologyVersion, OntologyVersion } from '@/api/contract/labeling';
import { FormFrame } from '@/shared/forms/FormFrame';
import { notifySuccess } from '@/shared/ui/undo';
import { ontologyOfTask } from '../objects/ontology';
import { addOntologyVersion, editOntologyVersion, moveToVersion, TASK_KEY } from '../queries';
import { GuidelineField } from './GuidelineField';
import { LabelRows } from './LabelRows';
import { OntologyEditor } from './OntologyEditor';
import { asDraft, type LabelDraft, ontologyOf } from './ontologyDraft';
import { initialValues, useTaskRules, type Values } from './taskForm';

const CLASSIFICATION = 'classification' as const;

/** Changes the labels and the guideline of a task while people work: as a newer version of its ontology. */
export function TaskOntology({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState(false);
  if (!task.offers.includes('change')) return null;
  const close = () => setOpened(false);
  return (
    <>
      <Button size="compact-xs" variant="subtle" onClick={() => setOpened(true)}>
        {t('labeling.ontology.change')}
      </Button>
      <Drawer
        opened={opened}
        size="lg"
        onClose={close}
        title={<Text fw={650}>{t('labeling.ontology.change')}</Text>}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {opened && <OntologyForm task={task} onDone={close} />}
      </Drawer>
    </>
  );
}

function OntologyForm({ task, onDone }: { task: LabelTask; onDone: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  // A version that the task could not move to yet is changed by the next attempt: no second one is made.
  const made = useRef<OntologyVersion | null>(null);
  const rules = useTaskRules();
  const { labels, schema } = ontologyOfTask(task);
  const isDrawn = task.modality === 'image-objects';
  const form = useForm<Values>({
    initialValues: {
      ...initialValues({ source: `${task.dataset}@${task.dataset_ref}`, labelled: false, objects: false }),
      modality: isDrawn ? 'image-objects' : 'image-classification',
      name: task.name,
      labels: labels.map(asDraft),
      schema: schema ?? {},
      guideline: task.guideline,
    },
    validate: rules,
  });
  const send = async (values: Values) => {
    const known = new Set(labels.map(({ id }) => id));
    const isNew = ({ id }: LabelDraft) => !isDrawn && !known.has(id);
    // A new class of a grid is given to whole pictures: the form has no tools for it.
    const drafts = values.labels.map((label) => (isNew(label) ? { ...label, tools: [CLASSIFICATION] } : label));
    const body: NewOntologyVersion = { ...ontologyOf(drafts, values.schema), guideline: values.guideline };
    const version = made.current
      ? await editOntologyVersion(task.ontology.id, made.current.number, body)
      : await addOntologyVersion(task.ontology.id, body);
    made.current = version;
    await moveToVersion(task.id, version.id);
    notifySuccess(t('labeling.ontology.changed'));
    void client.invalidateQueries({ queryKey: TASK_KEY });
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone}>
      <Text size="sm" c="dimmed">
        {t('labeling.ontology.changeHint')}
      </Text>
      {isDrawn ? <OntologyEditor form={form} /> : <LabelRows form={form} />}
      <GuidelineField {...form.getInputProps('guideline')} />
    </FormFrame>
  );
}
