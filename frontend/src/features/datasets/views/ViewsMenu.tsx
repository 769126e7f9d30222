import { ActionIcon, Button, Code, Group, Popover, ScrollArea, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBookmarks, IconPencil, IconTrash, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SavedView } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { CopyIcon } from '@/shared/ui/CopyId';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { confirmUndo, notifySuccess } from '@/shared/ui/undo';
import { pullCommand } from '../names';
import type { VersionAddress } from '../queries';
import { ViewNameDialog } from './ViewNameForm';
import { useViewActions, useViewCount, useViews } from './viewQueries';

interface ViewsMenuProps {
  address: VersionAddress;
  /** The view that is applied. */
  value: string | undefined;
  onApply: (name: string | undefined) => void;
}

/** The saved views of the dataset: applied by a click, renamed, deleted, pulled. */
export function ViewsMenu({ address, value, onApply }: ViewsMenuProps) {
  const { t } = useTranslation();
  const [opened, { toggle, close }] = useDisclosure();
  const [renaming, setRenaming] = useState<SavedView>();
  const { change, remove } = useViewActions(address.dataset);
  // A view disappears from the list before the server deletes it.
  const [going, setGoing] = useState<ReadonlySet<string>>(new Set());
  const put = (name: string, isGoing: boolean) =>
    setGoing((old) => new Set(isGoing ? [...old, name] : [...old].filter((one) => one !== name)));
  const onRemove = ({ name }: SavedView) => {
    put(name, true);
    if (name === value) onApply(undefined);
    confirmUndo({
      message: t('views.going', { name }),
      commit: () => remove(name).then(() => put(name, false)),
      rollback: () => put(name, false),
    });
  };
  const rename = async (name: string) => {
    if (!renaming) return;
    await change(renaming.name, { name });
    notifySuccess(t('views.renamed', { name }));
    if (value === renaming.name) onApply(name);
  };
  const apply = (name: string) => {
    onApply(name);
    close();
  };
  return (
    <Group gap={4} wrap="nowrap">
      <Popover
        width={440}
        position="bottom-end"
        // While a view is renamed the dialog above has the focus: a click in it must not close this.
        trapFocus={renaming === undefined}
        closeOnClickOutside={renaming === undefined}
        closeOnEscape={renaming === undefined}
        returnFocus
        shadow="md"
        opened={opened}
        onChange={(next) => !next && close()}
      >
        <Popover.Target>
          <Button
            size="xs"
            variant={value ? 'light' : 'default'}
            leftSection={<IconBookmarks size={14} />}
            onClick={toggle}
          >
            {value ? t('views.applied', { name: value }) : t('views.title')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t('views.title')}>
          <ViewList
            address={address}
            value={value}
            going={going}
            onApply={apply}
            onRename={setRenaming}
            onRemove={onRemove}
          />
        </Popover.Dropdown>
      </Popover>
      {value && (
        <ActionIcon
          size="sm"
          color="gray"
          aria-label={t('views.leave', { name: value })}
          onClick={() => onApply(undefined)}
        >
          <IconX size={14} />
        </ActionIcon>
      )}
      <ViewNameDialog
        opened={renaming !== undefined}
        title={t('views.renameTitle', { name: renaming?.name ?? '' })}
        name={renaming?.name ?? ''}
        query={renaming?.query ?? ''}
        submit={t('views.renameSubmit')}
        send={rename}
        onClose={() => setRenaming(undefined)}
      />
    </Group>
  );
}

interface ViewListProps {
  address: VersionAddress;
  value: string | undefined;
  going: ReadonlySet<string>;
  onApply: (name: string) => void;
  onRename: (view: SavedView) => void;
  onRemove: (view: SavedView) => void;
}

function ViewList({ address, value, going, onApply, onRename, onRemove }: ViewListProps) {
  const { t } = useTranslation();
  const views = useViews(address.dataset);
  if (views.error) return <ErrorState error={views.error} compact onRetry={() => void views.refetch()} />;
  if (views.isPending) return <Skeleton height={80} aria-busy />;
  const shown = views.data.results.filter((view) => !going.has(view.name));
  if (shown.length === 0) return <EmptyState icon={IconBookmarks} title={t('views.none')} />;
  return (
    <ScrollArea.Autosize mah={360} viewportProps={{ tabIndex: 0, 'aria-label': t('views.title') }}>
      <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {shown.map((view) => (
          <ViewRow
            key={view.id}
            view={view}
            address={address}
            isApplied={view.name === value}
            onApply={() => onApply(view.name)}
            onRename={() => onRename(view)}
            onRemove={() => onRemove(view)}
          />
        ))}
      </Stack>
    </ScrollArea.Autosize>
  );
}

interface ViewRowProps {
  view: SavedView;
  address: VersionAddress;
  isApplied: boolean;
  onApply: () => void;
  onRename: () => void;
  onRemove: () => void;
}

function ViewRow({ view, address, isApplied, onApply, onRename, onRemove }: ViewRowProps) {
  const { t } = useTranslation();
  const mayWrite = useMay('researcher');
  const { name, query } = view;
  return (
    <li>
      <Group gap={4} wrap="nowrap" justify="space-between">
        <Button
          size="compact-sm"
          variant={isApplied ? 'light' : 'subtle'}
          aria-current={isApplied || undefined}
          aria-label={t('views.apply', { name })}
          onClick={onApply}
        >
          {name}
        </Button>
        <Group gap={4} wrap="nowrap">
          <ViewCount address={address} name={name} />
          <CopyIcon value={`${pullCommand(address.dataset, address.ref)} --view ${name}`} />
          {mayWrite && (
            <>
              <ActionIcon size="xs" color="gray" aria-label={t('views.rename', { name })} onClick={onRename}>
                <IconPencil size={13} />
              </ActionIcon>
              <ActionIcon size="xs" color="gray" aria-label={t('views.delete', { name })} onClick={onRemove}>
                <IconTrash size={13} />
              </ActionIcon>
            </>
          )}
        </Group>
      </Group>
      <Code block py={2} fz="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {query}
      </Code>
    </li>
  );
}

/** How many files of the version at hand the view has. */
function ViewCount({ address, name }: { address: VersionAddress; name: string }) {
  const { t } = useTranslation();
  const { data, error } = useViewCount(address, name);
  if (error) return null;
  return (
    <Text size="xs" c="dimmed" className="tabular">
      {data ? t(data.total_is_exact ? 'datasets.matching' : 'datasets.matchingAtLeast', { count: data.total }) : '…'}
    </Text>
  );
}
