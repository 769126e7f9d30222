import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { Branch } from '@/api/contract/datasets';
import { Dialog } from '@/shared/ui/Dialog';
import { useEdit } from '../operationQueries';
import { notifyEdited, type OnVersion } from './edited';
import { OperationFrame } from './OperationFrame';
import { useDialogOperation } from './useOperation';

interface MoveDialogProps {
  name: string;
  branch: Branch;
  /** The files that are moved. */
  paths: string[];
  opened: boolean;
  onClose: () => void;
  /** Told the branch that has them elsewhere now, and its version. */
  onDone: OnVersion;
}

/** Moves files of a branch into a folder. */
export function MoveDialog({ opened, ...rest }: MoveDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={rest.onClose} title={t('versioning.moveTitle')} size="md">
      <MoveForm {...rest} />
    </Dialog>
  );
}

function MoveForm({ name, branch, paths, onClose, onDone }: Omit<MoveDialogProps, 'opened'>) {
  const { t } = useTranslation();
  const operation = useDialogOperation(name);
  const edit = useEdit(name, operation);
  const form = useForm({
    initialValues: { to: '' },
    validate: { to: (value) => (value.replaceAll('/', '') ? null : t('versioning.moveToMissing')) },
  });
  const send = async ({ to }: { to: string }) => {
    const step = { op: 'move', paths, to: `${to.replace(/\/+$/, '')}/` } as const;
    const { unchanged, version } = await edit(branch.name, branch.head?.commit ?? null, [step]);
    notifyEdited(branch.name, unchanged, version);
    onClose();
    if (version && !unchanged) onDone(branch.name, version.ref);
  };
  return (
    <OperationFrame
      operation={operation}
      form={form}
      send={send}
      submit={t('versioning.moveSubmit')}
      onCancel={onClose}
    >
      <TextInput
        label={t('versioning.moveTo')}
        description={t('versioning.moveToHint')}
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('to')}
      />
    </OperationFrame>
  );
}
