import { Modal, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FormFrame } from '@/shared/forms/FormFrame';
import { useStats } from '../queries';

interface LabelDialogProps {
  dataset: string;
  /** The version of the report. */
  versionRef: string;
  /** The name of the task, unless the person changes it. */
  taskName: string;
  count: number;
  opened: boolean;
  onClose: () => void;
  send: (name: string, labels: string[]) => Promise<unknown>;
  /** More facts about the files. */
  children?: ReactNode;
}

/** Makes a label task of the selected files; the labels are those that the version has. */
export function LabelDialog({ opened, onClose, dataset, versionRef, count, ...props }: LabelDialogProps) {
  const { t } = useTranslation();
  const stats = useStats(dataset, opened ? versionRef : undefined);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('cleaning.labelTitle', { count })}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {opened && (stats.data || stats.error) && (
        <LabelForm {...props} labels={Object.keys(stats.data?.labels ?? {}).sort()} onClose={onClose} />
      )}
    </Modal>
  );
}

type LabelFormProps = Omit<LabelDialogProps, 'opened' | 'count' | 'dataset' | 'versionRef'> & { labels: string[] };

function LabelForm({ taskName, labels, onClose, send, children }: LabelFormProps) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { name: taskName, labels },
    validate: {
      name: (value) => (value.trim() ? null : t('cleaning.taskNameMissing')),
      labels: (value) => (value.length > 0 ? null : t('cleaning.labelsMissing')),
    },
  });
  return (
    <FormFrame
      form={form}
      send={({ name, labels: chosen }) => send(name.trim(), chosen)}
      submit={t('cleaning.make')}
      onCancel={onClose}
    >
      {children}
      {/* The form comes after its dialog: the classes are read first. */}
      <TextInput
        label={t('cleaning.taskName')}
        autoFocus
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('name')}
      />
      <TagsInput
        label={t('cleaning.labels')}
        description={t('cleaning.labelsHint')}
        splitChars={[]}
        {...form.getInputProps('labels')}
      />
    </FormFrame>
  );
}
