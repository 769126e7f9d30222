import { Button, Group, Text } from '@mantine/core';
import { IconCherry, IconCopy, IconFolderShare, IconTags, IconTrash, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, EditStepRequest } from '@/api/contract/datasets';
import { confirmUndo, notifySuccess } from '@/shared/undo';
import { useEdit } from '../operationQueries';
import { AttributesDialog } from './AttributesDialog';
import { CopyDialog } from './CopyDialog';
import { MoveDialog } from './MoveDialog';
import { PickDialog } from './PickDialog';
import { tellIfCancelled, useOperation } from './useOperation';

interface EditBarProps {
  name: string;
  /** The branch whose newest version is shown; undefined where an older one is. */
  branch: Branch | undefined;
  /** The version that is shown, as the URL names it. */
  source: string;
  selected: ReadonlySet<string>;
  onClear: () => void;
  /** Told the version that has the change. */
  onDone: (ref: string) => void;
}

/** What can be done with selected files: each makes a version, and no byte is moved. */
export function EditBar({ name, branch, source, selected, onClear, onDone }: EditBarProps) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState<'move' | 'copy' | 'attributes' | 'pick'>();
  const close = () => setOpened(undefined);
  const operation = useOperation(name);
  const edit = useEdit(name, operation);
  // What runs is shown with all that the server does to the dataset.
  if (selected.size === 0) return null;
  const paths = [...selected];
  const run = async (step: EditStepRequest) => {
    if (!branch?.head) return;
    const { version } = await edit(branch.name, branch.head.commit, [step]);
    notifySuccess(t('versioning.edited', { branch: branch.name, ref: version?.ref ?? '' }));
    if (version) done(version.ref);
  };
  const done = (ref: string) => {
    onClear();
    onDone(ref);
  };
  const remove = () =>
    confirmUndo({
      message: t('versioning.removing', { count: paths.length, branch: branch?.name ?? '' }),
      commit: () => run({ op: 'remove', paths }).catch(tellIfCancelled),
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
            onClick={() => setOpened('move')}
          >
            {t('versioning.move')}
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconTags size={14} />}
            onClick={() => setOpened('attributes')}
          >
            {t('versioning.attributes')}
          </Button>
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {t('versioning.notEditable')}
        </Text>
      )}
      <Button size="xs" variant="default" leftSection={<IconCopy size={14} />} onClick={() => setOpened('copy')}>
        {t('versioning.copy')}
      </Button>
      <Button size="xs" variant="default" leftSection={<IconCherry size={14} />} onClick={() => setOpened('pick')}>
        {t('versioning.pick')}
      </Button>
      <Button size="xs" variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={onClear}>
        {t('versioning.clear')}
      </Button>
      {branch && (
        <MoveDialog
          name={name}
          branch={branch}
          paths={paths}
          opened={opened === 'move'}
          onClose={close}
          onDone={done}
        />
      )}
      {branch && (
        <AttributesDialog
          name={name}
          branch={branch}
          of={{ paths }}
          opened={opened === 'attributes'}
          onClose={close}
          onDone={done}
        />
      )}
      <CopyDialog
        name={name}
        source={source}
        paths={paths}
        branch={branch?.name ?? 'main'}
        opened={opened === 'copy'}
        onClose={close}
        onDone={done}
      />
      <PickDialog name={name} source={source} paths={paths} opened={opened === 'pick'} onClose={close} onDone={done} />
    </Group>
  );
}
