import { Select, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { EditStepRequest } from '@/api/contract/datasets';
import { Dialog } from '@/shared/ui/Dialog';
import { useEdit, useEditPreview } from '../operationQueries';
import { useRefs } from '../queries';
import { notifyEdited, type OnVersion } from './edited';
import { Message } from './MergeDialog';
import { OperationFrame } from './OperationFrame';
import { PathsField } from './PathsField';
import { Preview } from './Preview';
import { useDialogOperation } from './useOperation';

interface CopyDialogProps {
  name: string;
  /** The version that they are copied from. */
  source: string;
  /** Those that are chosen already. */
  paths: readonly string[];
  /** The branch that is offered first. */
  branch: string;
  opened: boolean;
  onClose: () => void;
  /** Told the version that has the copies. */
  onDone: OnVersion;
}

/** Copies files and folders of a version into a folder of a branch. */
export function CopyDialog({ opened, ...rest }: CopyDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={rest.onClose} title={t('versioning.copyTitle', { ref: rest.source })}>
      <CopyForm {...rest} />
    </Dialog>
  );
}

const isFolder = (text: string) => text.replaceAll('/', '') !== '';

function stepOf(paths: string[], to: string, source: string): EditStepRequest {
  return { op: 'copy', paths, to: `${to.replace(/\/+$/, '')}/`, source };
}

function CopyForm({ name, source, paths, branch, onClose, onDone }: Omit<CopyDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const branches = useRefs(name).branches.map((one) => one.name);
  const form = useForm({
    initialValues: { branch, paths: [...paths], to: '', message: '' },
    validate: {
      paths: (value) => (value.length ? null : t('versioning.pathsMissing')),
      to: (value) => (isFolder(value) ? null : t('versioning.moveToMissing')),
    },
  });
  const { values } = form;
  const [asked] = useDebouncedValue(values, 300);
  const isWhole = asked.paths.length > 0 && isFolder(asked.to);
  const preview = useEditPreview(name, asked.branch, isWhole ? stepOf(asked.paths, asked.to, source) : null);
  const operation = useDialogOperation(name);
  const edit = useEdit(name, operation);
  const send = async () => {
    const steps = [stepOf(values.paths, values.to, source)];
    const { unchanged, version } = await edit(values.branch, null, steps, values.message);
    notifyEdited(values.branch, unchanged, version);
    onClose();
    if (version && !unchanged) onDone(values.branch, version.ref);
  };
  return (
    <OperationFrame
      operation={operation}
      form={form}
      send={send}
      submit={t('versioning.copySubmit')}
      onCancel={onClose}
    >
      <Text size="sm">{t('versioning.copyHint')}</Text>
      <PathsField {...form.getInputProps('paths')} />
      <TextInput
        label={t('versioning.copyTo')}
        data-autofocus
        autoComplete="off"
        placeholder="old/"
        {...form.getInputProps('to')}
      />
      <Select label={t('versioning.onto')} data={branches} allowDeselect={false} {...form.getInputProps('branch')} />
      <Preview preview={preview} contained={t('versioning.nothing')} />
      <Message {...form.getInputProps('message')} />
    </OperationFrame>
  );
}
