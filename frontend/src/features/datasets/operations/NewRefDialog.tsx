import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { VersionPicker } from '../browse/VersionPicker';
import { useCreateRef } from '../operationQueries';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

interface NewRefDialogProps {
  name: string;
  /** Undefined while the dialog is closed. */
  kind: 'branch' | 'tag' | undefined;
  at: string;
  onClose: () => void;
}

export function NewRefDialog({ kind, onClose, ...rest }: NewRefDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog
      opened={kind !== undefined}
      onClose={onClose}
      title={kind === 'tag' ? t('versioning.newTag') : t('versioning.newBranch')}
      size="md"
    >
      {kind && <NewRefForm kind={kind} onClose={onClose} {...rest} />}
    </Dialog>
  );
}

function NewRefForm({ name, kind, at, onClose }: NewRefDialogProps & { kind: 'branch' | 'tag' }) {
  const { t } = useTranslation();
  const create = useCreateRef(name, kind);
  const form = useForm({
    initialValues: { name: '', at },
    validate: { name: (value) => (NAME.test(value) ? null : t('versioning.nameInvalid')) },
  });
  const send = async (values: { name: string; at: string }) => {
    await create(values);
    const said = { name: values.name, ref: values.at };
    notifySuccess(kind === 'tag' ? t('versioning.tagCreated', said) : t('versioning.branchCreated', said));
    onClose();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.create')} onCancel={onClose}>
      <TextInput
        label={t('versioning.name')}
        description={t('versioning.nameHint')}
        data-autofocus
        autoComplete="off"
        {...form.getInputProps('name')}
      />
      <VersionPicker
        name={name}
        label={kind === 'tag' ? t('versioning.at') : t('versioning.startsAt')}
        width={260}
        value={form.values.at}
        onChange={(ref) => form.setFieldValue('at', ref)}
      />
    </FormFrame>
  );
}
