import { Button, Group, Text } from '@mantine/core';
import {
  IconArrowsSplit2,
  IconCherry,
  IconCopy,
  IconFolderShare,
  IconPolygon,
  IconTag,
  IconTags,
  IconTerminal2,
  IconTrash,
  IconX,
  type TablerIcon,
} from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, EditStepRequest } from '@/api/contract/datasets';
import { confirmUndo } from '@/shared/ui/undo';
import { useEdit } from '../operationQueries';
import { AttributesDialog } from './AttributesDialog';
import { CopyDialog } from './CopyDialog';
import { notifyEdited, type OnVersion } from './edited';
import { LabelTaskDialog } from './LabelTaskDialog';
import { MarkDialog } from './MarkDialog';
import { MoveDialog } from './MoveDialog';
import { type AttributesOf, editedPaths } from './of';
import { PickDialog } from './PickDialog';
import { PullDialog } from './PullDialog';
import { tellIfCancelled, useOperation } from './useOperation';

interface EditBarProps {
  name: string;
  /** The branch whose newest version is shown; undefined where an older one is. */
  branch: Branch | undefined;
  /** The version that is shown, as the URL names it. */
  source: string;
  /** The files that are meant: named one by one, or as a question. */
  of: AttributesOf;
  /** How many those are. */
  count: number;
  /** Whether all that match are meant, by the question that finds them. */
  isMatching?: boolean;
  /** Whether `count` is all; otherwise nobody counted to the end. */
  isExact?: boolean;
  onClear: () => void;
  onDone: OnVersion;
  children?: ReactNode;
}

type Opened = 'move' | 'copy' | 'attributes' | 'label' | 'split' | 'pick' | 'task' | 'pull';

/** The edits of chosen files: each edit makes a version, and no byte is moved. */
export function EditBar({ isMatching = false, isExact = true, ...props }: EditBarProps) {
  const { name, branch, source, of, count, onClear, onDone, children } = props;
  const { t } = useTranslation();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const operation = useOperation(name);
  const edit = useEdit(name, operation);
  // Running operations are shown with all others of the dataset.
  if (count === 0) return null;
  const run = async (step: EditStepRequest) => {
    if (!branch?.head) return;
    const { version, unchanged } = await edit(branch.name, branch.head.commit, [step]);
    notifyEdited(branch.name, unchanged, version);
    if (version) done(branch.name, version.ref);
  };
  const done: OnVersion = (changed, ref) => {
    onClear();
    onDone(changed, ref);
  };
  const later = (message: string, step: EditStepRequest) =>
    confirmUndo({ message, commit: () => run(step).catch(tellIfCancelled), rollback: () => undefined });
  const target = { ...of, paths: editedPaths(of) };
  const remove = () =>
    later(t('versioning.removing', { count, branch: branch?.name ?? '' }), { op: 'remove', ...target });
  const said = isMatching
    ? t(isExact ? 'versioning.allSelected' : 'versioning.allSelectedAtLeast', { count })
    : t('versioning.selected', { count });
  const button = (icon: TablerIcon, words: string, act: Opened | (() => void)) => (
    <Action icon={icon} words={words} onClick={() => (typeof act === 'string' ? setOpened(act) : act())} />
  );
  const paths = [...of.paths];
  const dialog = { name, onClose: close, onDone: done };
  return (
    <Group gap="xs" p="xs" role="toolbar" aria-label={said}>
      <Text size="sm" role="status">
        {said}
      </Text>
      {branch ? (
        <>
          {button(IconTrash, t('versioning.remove'), remove)}
          {!isMatching && button(IconFolderShare, t('versioning.move'), 'move')}
          {button(IconTag, t('versioning.markLabel'), 'label')}
          {button(IconArrowsSplit2, t('versioning.markSplit'), 'split')}
          {button(IconTags, t('versioning.attributes'), 'attributes')}
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {t('versioning.notEditable')}
        </Text>
      )}
      {!isMatching && button(IconCopy, t('versioning.copy'), 'copy')}
      {!isMatching && button(IconCherry, t('versioning.pick'), 'pick')}
      {button(IconPolygon, t('versioning.labelTask'), 'task')}
      {isMatching && button(IconTerminal2, t('versioning.pullThese'), 'pull')}
      {children}
      <Button size="xs" variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={onClear}>
        {t('versioning.clear')}
      </Button>
      {branch && <MoveDialog {...dialog} branch={branch} paths={paths} opened={opened === 'move'} />}
      {branch && <AttributesDialog {...dialog} branch={branch} of={of} opened={opened === 'attributes'} />}
      {branch && (opened === 'label' || opened === 'split') && (
        <MarkDialog name={name} branch={branch} of={target} op={opened} count={count} onClose={close} onMark={later} />
      )}
      <CopyDialog
        {...dialog}
        source={source}
        paths={paths}
        branch={branch?.name ?? 'main'}
        opened={opened === 'copy'}
      />
      <PickDialog {...dialog} source={source} paths={paths} opened={opened === 'pick'} />
      {opened === 'task' && (
        <LabelTaskDialog
          name={name}
          source={source}
          of={of}
          isMatching={isMatching}
          count={count}
          onClose={close}
          onDone={onClear}
        />
      )}
      {opened === 'pull' && <PullDialog name={name} source={source} of={of} onClose={close} />}
    </Group>
  );
}

function Action({ icon: Icon, words, onClick }: { icon: TablerIcon; words: string; onClick: () => void }) {
  return (
    <Button size="xs" variant="default" leftSection={<Icon size={14} />} onClick={onClick}>
      {words}
    </Button>
  );
}
