import { Checkbox, Select, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { usePick, usePickPreview } from '../operationQueries';
import { useRefs } from '../queries';
import { Conflicts } from './Conflicts';
import type { OnVersion } from './edited';
import { Message } from './MergeDialog';
import { OperationFrame } from './OperationFrame';
import { PathsField } from './PathsField';
import { Preview } from './Preview';
import { UNSETTLED } from './settling';
import { useDialogOperation } from './useOperation';
import { useSettling } from './useSettling';

interface PickDialogProps {
  name: string;
  /** The version that the paths are taken from. */
  source: string;
  /** Those that are chosen already. */
  paths: readonly string[];
  opened: boolean;
  onClose: () => void;
  /** Told the version that has them. */
  onDone: OnVersion;
}

/** Brings paths of one version to a branch, as they are there. */
export function PickDialog({ opened, ...rest }: PickDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={rest.onClose} title={t('versioning.pickTitle', { ref: rest.source })}>
      <PickForm {...rest} />
    </Dialog>
  );
}

function PickForm({ name, source, paths, onClose, onDone }: Omit<PickDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const branches = useRefs(name).branches.map((branch) => branch.name);
  const form = useForm({
    initialValues: { branch: 'main', paths: [...paths], changes_only: false, ...UNSETTLED, message: '' },
    validate: {
      paths: (value, { changes_only }) => (value.length || changes_only ? null : t('versioning.pathsMissing')),
    },
  });
  const { values } = form;
  const [asked] = useDebouncedValue(values, 300);
  const { branch, changes_only } = asked;
  const preview = usePickPreview(name, { source, branch, paths: asked.paths, changes_only });
  const conflicts = useSettling(form, preview, `${source} ${values.branch}`);
  const operation = useDialogOperation(name);
  const pick = usePick(name, operation);
  const send = async () => {
    const { unchanged, version } = await conflicts.send((settled) =>
      pick({
        source,
        branch: values.branch,
        paths: values.paths,
        changes_only: values.changes_only,
        message: values.message,
        ...settled,
      }),
    );
    const next = version?.ref ?? '';
    notifySuccess(
      unchanged ? t('versioning.nothing') : t('versioning.picked', { branch: values.branch, ref: source, next }),
    );
    onClose();
    if (!unchanged) onDone(values.branch, next);
  };
  return (
    <OperationFrame
      operation={operation}
      form={form}
      send={send}
      submit={t('versioning.pickSubmit')}
      ready={conflicts.isReady}
      onCancel={onClose}
    >
      <Text size="sm">{t('versioning.pickHint', { ref: source })}</Text>
      <PathsField data-autofocus {...form.getInputProps('paths')} />
      <Checkbox
        label={t('versioning.pickChanges', { ref: source })}
        description={t('versioning.pickChangesHint')}
        {...form.getInputProps('changes_only', { type: 'checkbox' })}
      />
      <Select label={t('versioning.onto')} data={branches} allowDeselect={false} {...form.getInputProps('branch')} />
      <Preview preview={preview} contained={t('versioning.nothing')} />
      <Conflicts conflicts={conflicts} branch={values.branch} source={source} />
      <Message {...form.getInputProps('message')} />
    </OperationFrame>
  );
}
