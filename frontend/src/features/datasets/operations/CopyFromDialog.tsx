import { Select, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { EditStepRequest } from '@/api/contract/datasets';
import { DatasetSelect } from '@/shared/domain/DatasetSelect';
import { Dialog } from '@/shared/ui/Dialog';
import { queryProblem } from '../browse/QueryField';
import { VersionPicker } from '../browse/VersionPicker';
import { useEdit, useEditPreview } from '../operationQueries';
import { useRefs } from '../queries';
import { notifyEdited, type OnVersion } from './edited';
import { Message } from './MergeDialog';
import { OperationFrame } from './OperationFrame';
import { PathsField } from './PathsField';
import { Preview } from './Preview';
import { useDialogOperation } from './useOperation';

interface CopyFromDialogProps {
  name: string;
  /** The branch that is offered first. */
  branch: string;
  opened: boolean;
  onClose: () => void;
  /** Told the version that has the copies. */
  onDone: OnVersion;
}

/** Copies files of another dataset of the project into a folder of a branch. */
export function CopyFromDialog({ opened, ...rest }: CopyFromDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={rest.onClose} title={t('versioning.copyFromTitle', { name: rest.name })}>
      <CopyFromForm {...rest} />
    </Dialog>
  );
}

interface Values {
  dataset: string | null;
  ref: string;
  paths: string[];
  where: string;
  to: string;
  branch: string;
  message: string;
}

const isFolder = (text: string) => text.replaceAll('/', '') !== '';

/** The edit of the form; `null` while the form is incomplete. */
function stepOf({ dataset, ref, paths, where, to }: Values): EditStepRequest | null {
  if (dataset === null || !isFolder(to)) return null;
  const chosen = paths.length === 0 && where.trim() === '' ? ['/'] : paths;
  return {
    op: 'copy',
    paths: chosen,
    where: where.trim(),
    to: `${to.replace(/\/+$/, '')}/`,
    source: `${dataset}@${ref}`,
  };
}

function CopyFromForm({ name, branch, onClose, onDone }: Omit<CopyFromDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const branches = useRefs(name).branches.map((one) => one.name);
  const form = useForm<Values>({
    initialValues: { dataset: null, ref: 'main', paths: [], where: '', to: '', branch, message: '' },
    validate: {
      dataset: (value) => (value === null ? t('versioning.datasetMissing') : null),
      to: (value) => (isFolder(value) ? null : t('versioning.moveToMissing')),
    },
  });
  const { values } = form;
  const [asked] = useDebouncedValue(values, 300);
  const preview = useEditPreview(name, asked.branch, stepOf(asked));
  const operation = useDialogOperation(name);
  const edit = useEdit(name, operation);
  const send = async () => {
    const step = stepOf(values);
    if (step === null) return;
    const { unchanged, version } = await edit(values.branch, null, [step], values.message);
    notifyEdited(values.branch, unchanged, version);
    onClose();
    if (version && !unchanged) onDone(values.branch, version.ref);
  };
  const problem = queryProblem(preview.error);
  return (
    <OperationFrame
      operation={operation}
      form={form}
      send={send}
      submit={t('versioning.copySubmit')}
      ready={!preview.isLoading}
      onCancel={onClose}
    >
      <Text size="sm">{t('versioning.copyHint')}</Text>
      <DatasetSelect
        label={t('versioning.fromDataset')}
        except={name}
        allowDeselect={false}
        nothingFoundMessage={t('versioning.noOtherDataset')}
        data-autofocus
        {...form.getInputProps('dataset')}
        value={values.dataset}
        onChange={(dataset) => form.setValues({ dataset, ref: 'main' })}
      />
      {values.dataset !== null && (
        <VersionPicker
          name={values.dataset}
          label={t('datasets.version')}
          width={260}
          value={values.ref}
          onChange={(ref) => form.setFieldValue('ref', ref)}
        />
      )}
      <PathsField {...form.getInputProps('paths')} />
      <TextInput
        label={t('datasets.query')}
        description={t('versioning.copyWhereHint')}
        placeholder="label = 'cat'"
        maxLength={4000}
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...form.getInputProps('where')}
        error={problem ?? form.errors.where}
      />
      <TextInput label={t('versioning.copyTo')} autoComplete="off" placeholder="in/" {...form.getInputProps('to')} />
      <Select label={t('versioning.onto')} data={branches} allowDeselect={false} {...form.getInputProps('branch')} />
      {problem === null && <Preview preview={preview} contained={t('versioning.nothing')} />}
      <Message {...form.getInputProps('message')} />
    </OperationFrame>
  );
}
