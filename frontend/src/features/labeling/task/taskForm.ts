import { type FormValidateInput, formRootRule, useForm } from '@mantine/form';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { readStored, writeStored } from '@/shared/ui/stored';
import type { OntologySchema } from '../objects/types';
import type { LabelDraft } from './ontologyDraft';
import type { Plan } from './plan';

export type Modality = 'image-classification' | 'image-objects';

/** Pictures that one person gets at once. */
export const BATCH_SIZES: Readonly<Record<Modality, number>> = { 'image-classification': 25, 'image-objects': 8 };

export interface Values extends Plan {
  modality: Modality;
  name: string;
  dataset: string;
  ref: string;
  prefix: string;
  where: string;
  unlabelled: boolean;
  labels: LabelDraft[];
  schema: OntologySchema;
  batchSize: number;
  auditPercent: number;
  guideline: string;
}

/** The choices of a link: a version, files that have a class, too, and drawing in place of classes. */
export interface TaskPreset {
  source: string;
  labelled: boolean;
  objects: boolean;
}

/** Pictures without objects: nobody has looked at them, or nothing was there. */
const WITHOUT_OBJECTS = 'objects.count IS NULL OR objects.count = 0';

export function initialValues({ source, labelled, objects }: TaskPreset): Values {
  const [dataset = '', ref = ''] = source.split('@');
  return {
    modality: objects ? 'image-objects' : 'image-classification',
    name: '',
    dataset: ref ? dataset : '',
    ref,
    prefix: '',
    where: objects ? WITHOUT_OBJECTS : '',
    // A class of the whole picture says nothing about its objects.
    unlabelled: !labelled && !objects,
    labels: [],
    schema: {},
    batchSize: BATCH_SIZES[objects ? 'image-objects' : 'image-classification'],
    auditPercent: 10,
    guideline: '',
    assignees: [],
    dueOn: '',
    priority: 0,
    preLabel: true,
  };
}

/** A form that was left before it was sent; only one of the same version is taken up again. */
function keptValues(key: string, begun: Values): Values | null {
  try {
    const kept = JSON.parse(readStored(key) ?? 'null') as Values | null;
    if (!kept || (begun.dataset && (kept.dataset !== begun.dataset || kept.ref !== begun.ref))) return null;
    if (begun.modality === 'image-objects' && kept.modality !== begun.modality) return null;
    return { ...begun, ...kept };
  } catch {
    return null;
  }
}

/** Mistakes of a task that the form shows before it is sent. */
export function useTaskRules(): FormValidateInput<Values> {
  const { t } = useTranslation();
  const isCount = (value: unknown) => typeof value === 'number' && Number.isInteger(value);
  return {
    name: (value) => (value.trim() ? null : t('labeling.create.noName')),
    dataset: (value) => (value ? null : t('labeling.create.noDataset')),
    batchSize: (value) => (isCount(value) ? null : t('labeling.create.noNumber')),
    auditPercent: (value) => (isCount(value) ? null : t('labeling.create.noNumber')),
    priority: (value) => (isCount(value) ? null : t('labeling.create.noNumber')),
    schema: {
      relations: { name: (value: string) => (value.trim() ? null : t('labeling.ontology.noRelationName')) },
    },
    labels: {
      [formRootRule]: (labels: LabelDraft[], { modality }: Values) => {
        if (modality === 'image-objects') return labels.length < 1 ? t('labeling.ontology.oneLabel') : null;
        return labels.length < 2 ? t('labeling.create.twoLabels') : null;
      },
      name: (value: string, { labels }: Values) => {
        if (!value.trim()) return t('labeling.create.noLabel');
        const same = labels.filter((label) => label.name.trim() === value.trim());
        return same.length > 1 ? t('labeling.create.sameLabel') : null;
      },
      color: (value: string) => (/^#[0-9a-f]{6}$/i.test(value) ? null : t('labeling.create.noColor')),
      hotkey: (value: string, { labels }: Values) =>
        value && labels.filter((label) => label.hotkey === value).length > 1 ? t('labeling.create.sameKey') : null,
      tools: (tools: string[], { modality }: Values) =>
        modality === 'image-objects' && tools.length === 0 ? t('labeling.ontology.noTool') : null,
    },
  };
}

export function useTaskForm(preset: TaskPreset, project: string) {
  const rules = useTaskRules();
  const key = `atom-new-task/${project}`;
  // The form takes another object for other initial values, and gives out new setters.
  const [begun] = useState(() => initialValues(preset));
  const [kept, setKept] = useState(() => keptValues(key, begun));
  const [values] = useState(() => kept ?? begun);
  const form = useForm<Values>({
    initialValues: values,
    validate: rules,
  });
  useEffect(() => {
    if (form.isDirty() || kept) writeStored(key, JSON.stringify(form.values));
  }, [form, form.values, kept, key]);
  const forget = () => writeStored(key, null);
  const startAnew = () => {
    forget();
    setKept(null);
    form.setInitialValues(begun);
    form.setValues(begun);
    form.clearErrors();
  };
  return { form, isKept: kept !== null, startAnew, forget };
}
export type TaskForm = ReturnType<typeof useTaskForm>['form'];
