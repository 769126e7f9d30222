import { Select, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { useRevert, useRevertPreview } from '../operationQueries';
import { useRefs } from '../queries';
import { Conflicts } from './Conflicts';
import type { OnVersion } from './edited';
import { Message } from './MergeDialog';
import { OperationFrame } from './OperationFrame';
import { Preview } from './Preview';
import { UNSETTLED } from './settling';
import { useDialogOperation } from './useOperation';
import { useSettling } from './useSettling';

interface RevertDialogProps {
  name: string;
  version: string;
  opened: boolean;
  onClose: () => void;
  /** Told the version that undoes it. */
  onDone: OnVersion;
}

export function RevertDialog({ opened, ...rest }: RevertDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={rest.onClose} title={t('versioning.revertTitle', { ref: rest.version })}>
      <RevertForm {...rest} />
    </Dialog>
  );
}

function RevertForm({ name, version, onClose, onDone }: Omit<RevertDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const branches = useRefs(name).branches.map((branch) => branch.name);
  const form = useForm({
    initialValues: { branch: 'main', ...UNSETTLED, message: '' },
  });
  const { values } = form;
  const preview = useRevertPreview(name, version, values.branch);
  const conflicts = useSettling(form, preview, `${version} ${values.branch}`);
  const operation = useDialogOperation(name);
  const revert = useRevert(name, operation);
  const send = async () => {
    const done = await conflicts.send((settled) =>
      revert({ version, branch: values.branch, message: values.message, ...settled }),
    );
    const next = done.version?.ref ?? '';
    notifySuccess(done.unchanged ? t('versioning.nothing') : t('versioning.reverted', { ref: version, next }));
    onClose();
    if (!done.unchanged) onDone(values.branch, next);
  };
  return (
    <OperationFrame
      operation={operation}
      form={form}
      send={send}
      submit={t('versioning.revertSubmit')}
      ready={conflicts.isReady}
      onCancel={onClose}
    >
      <Text size="sm">{t('versioning.revertHint', { ref: version })}</Text>
      <Select
        label={t('versioning.onto')}
        data={branches}
        allowDeselect={false}
        data-autofocus
        {...form.getInputProps('branch')}
      />
      <Preview preview={preview} contained={t('versioning.nothing')} />
      <Conflicts conflicts={conflicts} branch={values.branch} source={version} />
      <Message {...form.getInputProps('message')} />
    </OperationFrame>
  );
}
