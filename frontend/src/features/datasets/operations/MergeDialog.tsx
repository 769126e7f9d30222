import { Select, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { VersionPicker } from '../browse/VersionPicker';
import { useMerge, useMergePreview } from '../operationQueries';
import { useRefs } from '../queries';
import { Conflicts } from './Conflicts';
import { OperationFrame } from './OperationFrame';
import { Preview } from './Preview';
import { UNSETTLED } from './settling';
import { useDialogOperation } from './useOperation';
import { useSettling } from './useSettling';

interface MergeDialogProps {
  name: string;
  /** The branch to merge; undefined while the dialog is closed. */
  source: string | undefined;
  onClose: () => void;
}

export function MergeDialog({ name, source, onClose }: MergeDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={source !== undefined} onClose={onClose} title={t('versioning.mergeTitle')}>
      <MergeForm name={name} source={source ?? ''} onClose={onClose} />
    </Dialog>
  );
}

function MergeForm({ name, source, onClose }: { name: string; source: string; onClose: () => void }) {
  const { t } = useTranslation();
  const branches = useRefs(name).branches.map((branch) => branch.name);
  const otherThan = (ref: string) =>
    branches.includes('main') && ref !== 'main' ? 'main' : (branches.find((one) => one !== ref) ?? '');
  const form = useForm({
    initialValues: { source, branch: otherThan(source), ...UNSETTLED, message: '' },
    validate: {
      branch: (branch) => (branch === '' ? t('versioning.noOtherBranch') : null),
    },
  });
  const { values } = form;
  const preview = useMergePreview(name, values.source, values.branch);
  const conflicts = useSettling(form, preview, `${values.source} ${values.branch}`);
  const operation = useDialogOperation(name);
  const merge = useMerge(name, operation);
  const send = async () => {
    const { unchanged, version } = await conflicts.send((settled) =>
      merge({ source: values.source, branch: values.branch, message: values.message, ...settled }),
    );
    notifySuccess(
      unchanged
        ? t('versioning.contained', values)
        : t('versioning.merged', { source: values.source, branch: values.branch, ref: version?.ref ?? '' }),
    );
    onClose();
  };
  return (
    <OperationFrame
      operation={operation}
      form={form}
      send={send}
      submit={t('versioning.merge')}
      ready={conflicts.isReady}
      onCancel={onClose}
    >
      <VersionPicker
        name={name}
        label={t('versioning.source')}
        width={260}
        value={values.source}
        onChange={(ref) => {
          form.setFieldValue('source', ref);
          // A branch is not merged into itself.
          if (ref === values.branch) form.setFieldValue('branch', otherThan(ref));
        }}
      />
      <Select
        label={t('versioning.into')}
        data={branches.filter((one) => one !== values.source)}
        placeholder={t('versioning.noOtherBranch')}
        allowDeselect={false}
        data-autofocus
        {...form.getInputProps('branch')}
      />
      <Preview preview={preview} contained={t('versioning.contained', values)} />
      <Conflicts conflicts={conflicts} branch={values.branch} source={values.source} />
      <Message {...form.getInputProps('message')} />
    </OperationFrame>
  );
}

export function Message(props: object) {
  const { t } = useTranslation();
  return <Textarea label={t('versioning.message')} description={t('versioning.messageHint')} rows={2} {...props} />;
}
