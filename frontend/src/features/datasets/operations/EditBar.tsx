import { Button, Group, Modal, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconFolderShare, IconTrash, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, EditStepRequest } from '@/api/contract/datasets';
import { FormFrame } from '@/shared/FormFrame';
import { confirmUndo, notifySuccess } from '@/shared/undo';
import { useEdit } from '../operationQueries';

interface EditBarProps {
  name: string;
  /** The branch whose newest version is shown; undefined where an older one is. */
  branch: Branch | undefined;
  selected: ReadonlySet<string>;
  onClear: () => void;
  /** Told the version that has the change. */
  onDone: (ref: string) => void;
}

/** What can be done with selected files: each makes a version, and no byte is moved. */
export function EditBar({ name, branch, selected, onClear, onDone }: EditBarProps) {
  const { t } = useTranslation();
  const [moving, setMoving] = useState(false);
  const edit = useEdit(name);
  if (selected.size === 0) return null;
  const paths = [...selected];
  const run = async (step: EditStepRequest) => {
    if (!branch?.head) return;
    const { version } = await edit(branch.name, branch.head.commit, [step]);
    notifySuccess(t('versioning.edited', { branch: branch.name, ref: version?.ref ?? '' }));
    onClear();
    if (version) onDone(version.ref);
  };
  const remove = () =>
    confirmUndo({
      message: t('versioning.removing', { count: paths.length, branch: branch?.name ?? '' }),
      commit: () => run({ op: 'remove', paths }),
      rollback: () => undefined,
    });
  return (
    <Group gap="xs" p="xs" role="toolbar" aria-label={t('versioning.selected', { count: paths.length })}>
      <Text size="sm" role="status">
        {t('versioning.selected', { count: paths.length })}
      </Text>
      {branch ? (
        <>
          <Button size="xs" variant="default" leftSection={<IconTrash size={14} />} onClick={remove}>
            {t('versioning.remove')}
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconFolderShare size={14} />}
            onClick={() => setMoving(true)}
          >
            {t('versioning.move')}
          </Button>
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {t('versioning.notEditable')}
        </Text>
      )}
      <Button size="xs" variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={onClear}>
        {t('versioning.clear')}
      </Button>
      <Modal
        opened={moving}
        onClose={() => setMoving(false)}
        title={t('versioning.moveTitle')}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {moving && (
          <MoveForm
            onClose={() => setMoving(false)}
            send={(folder) => run({ op: 'move', paths, to: `${folder.replace(/\/+$/, '')}/` })}
          />
        )}
      </Modal>
    </Group>
  );
}

function MoveForm({ send, onClose }: { send: (folder: string) => Promise<void>; onClose: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { to: '' },
    validate: { to: (value) => (value.replaceAll('/', '') ? null : t('versioning.moveToMissing')) },
  });
  return (
    <FormFrame
      form={form}
      send={({ to }) => send(to).then(onClose)}
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
    </FormFrame>
  );
}
