import { formRootRule, useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

interface LabelDraft {
  name: string;
  color: string;
  hotkey: string;
}

export interface Values {
  name: string;
  dataset: string;
  ref: string;
  prefix: string;
  unlabelled: boolean;
  labels: LabelDraft[];
  batchSize: number;
  auditPercent: number;
  guideline: string;
}

function initialValues(source: string, labelled: boolean): Values {
  const [dataset = '', ref = ''] = source.split('@');
  return {
    name: '',
    dataset: ref ? dataset : '',
    ref,
    prefix: '',
    unlabelled: !labelled,
    labels: [],
    batchSize: 25,
    auditPercent: 10,
    guideline: '',
  };
}

export function useTaskForm(source: string, labelled: boolean) {
  const { t } = useTranslation();
  const isCount = (value: unknown) => typeof value === 'number' && Number.isInteger(value);
  // The form takes another object for other initial values, and gives out new setters.
  const [values] = useState(() => initialValues(source, labelled));
  return useForm<Values>({
    initialValues: values,
    validate: {
      name: (value) => (value.trim() ? null : t('labeling.create.noName')),
      dataset: (value) => (value ? null : t('labeling.create.noDataset')),
      batchSize: (value) => (isCount(value) ? null : t('labeling.create.noNumber')),
      auditPercent: (value) => (isCount(value) ? null : t('labeling.create.noNumber')),
      labels: {
        [formRootRule]: (labels: LabelDraft[]) => (labels.length < 2 ? t('labeling.create.twoLabels') : null),
        name: (value: string, { labels }: Values) => {
          if (!value.trim()) return t('labeling.create.noLabel');
          const same = labels.filter((label) => label.name.trim() === value.trim());
          return same.length > 1 ? t('labeling.create.sameLabel') : null;
        },
        color: (value: string) => (/^#[0-9a-f]{6}$/i.test(value) ? null : t('labeling.create.noColor')),
        hotkey: (value: string, { labels }: Values) =>
          value && labels.filter((label) => label.hotkey === value).length > 1 ? t('labeling.create.sameKey') : null,
      },
    },
  });
}
export type TaskForm = ReturnType<typeof useTaskForm>;
