import { Modal, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { FormFrame } from '@/shared/FormFrame';
import { useStats } from '../queries';

interface LabelDialogProps {
  dataset: string;
  /** The version of the report. */
  versionRef: string;
  /** What the findings are, in words. */
  kind: string;
  count: number;
  opened: boolean;
  onClose: () => void;
  send: (name: string, labels: string[]) => Promise<unknown>;
}

/** Makes a label task of the selected files; the labels are those that the version has. */
export function LabelDialog({ opened, onClose, ...props }: LabelDialogProps) {
  const { t } = useTranslation();
  const stats = useStats(props.dataset, opened ? props.versionRef : undefined);
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('cleaning.labelTitle', { count: props.count })}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {opened && (stats.data || stats.error) && (
        <LabelForm {...props} labels={Object.keys(stats.data?.labels ?? {}).sort()} onClose={onClose} />
      )}
    </Modal>
  );
}

type LabelFormProps = Omit<LabelDialogProps, 'opened' | 'count'> & { labels: string[] };

function LabelForm({ dataset, versionRef, kind, labels, onClose, send }: LabelFormProps) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { name: t('cleaning.taskNameValue', { dataset, ref: versionRef, kind }), labels },
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
