import { ActionIcon, Button, Card, Group, SimpleGrid, Text, Title, Tooltip } from '@mantine/core';
import { IconGitBranch, IconGitMerge, IconHistory, IconTag, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, Tag } from '@/api/contract/datasets';
import { type Column, DataTable } from '@/shared/DataTable';
import { EmptyState } from '@/shared/EmptyState';
import { focusNeighbour } from '@/shared/focusBack';
import { AnchorLink, IconLink } from '@/shared/links';
import { useMay } from '@/shared/project';
import { RelativeTime } from '@/shared/RelativeTime';
import { confirmUndo } from '@/shared/undo';
import { useDeleteBranch, useDeleteTag } from '../operationQueries';
import { useRefs } from '../queries';
import { MergeDialog } from './MergeDialog';
import { NewRefDialog } from './NewRefDialog';

const MAIN = 'main';

/** The branches and tags of a dataset: made, merged, deleted. */
export function RefsPanel({ name, branch }: { name: string; branch: string }) {
  const { t } = useTranslation();
  const mayWrite = useMay('researcher');
  const refs = useRefs(name);
  // What is about to be deleted is gone from the page already.
  const [going, setGoing] = useState<ReadonlySet<string>>(new Set());
  const [creating, setCreating] = useState<'branch' | 'tag'>();
  const [merging, setMerging] = useState<string>();
  const remove = useRemoval(name, setGoing);
  const branchColumns = useBranchColumns(
    name,
    mayWrite,
    refs.branches.length > 1 ? setMerging : undefined,
    remove.branch,
  );
  const tagColumns = useTagColumns(name, useMay('admin'), remove.tag);
  const shown = <Row extends { name: string }>(rows: Row[]) =>
    refs.isPending ? undefined : rows.filter((row) => !going.has(row.name));
  const state = { error: refs.error, refetch: refs.refetch };
  return (
    <section aria-label={t('versioning.refs')}>
      <Group justify="space-between" mt="lg" mb="xs">
        <Title order={2} fz={16}>
          {t('versioning.refs')}
        </Title>
        {mayWrite && (
          <Group gap="xs">
            <Button variant="default" leftSection={<IconGitBranch size={15} />} onClick={() => setCreating('branch')}>
              {t('versioning.newBranch')}
            </Button>
            <Button variant="default" leftSection={<IconTag size={15} />} onClick={() => setCreating('tag')}>
              {t('versioning.newTag')}
            </Button>
            {refs.branches.length > 1 && (
              <Button leftSection={<IconGitMerge size={15} />} onClick={() => setMerging(branch)}>
                {t('versioning.merge')}
              </Button>
            )}
          </Group>
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Card p={0}>
          <DataTable
            {...state}
            label={t('versioning.branches')}
            columns={branchColumns}
            rows={shown(refs.branches)}
            rowKey={({ id }) => id}
            empty={<EmptyState icon={IconGitBranch} title={t('versioning.branches')} />}
          />
        </Card>
        <Card p={0}>
          <DataTable
            {...state}
            label={t('versioning.tags')}
            columns={tagColumns}
            rows={shown(refs.tags)}
            rowKey={({ id }) => id}
            empty={<EmptyState icon={IconTag} title={t('versioning.noTags')} hint={t('versioning.noTagsHint')} />}
          />
        </Card>
      </SimpleGrid>
      <NewRefDialog name={name} kind={creating} at={branch} onClose={() => setCreating(undefined)} />
      <MergeDialog name={name} source={merging} onClose={() => setMerging(undefined)} />
    </section>
  );
}

type SetGoing = (change: (old: ReadonlySet<string>) => ReadonlySet<string>) => void;

function useRemoval(dataset: string, setGoing: SetGoing) {
  const { t } = useTranslation();
  const deleteBranch = useDeleteBranch(dataset);
  const deleteTag = useDeleteTag(dataset);
  const remove = (name: string, message: string, commit: () => Promise<void>) => {
    const back = () => setGoing((old) => new Set([...old].filter((one) => one !== name)));
    setGoing((old) => new Set([...old, name]));
    confirmUndo({ message, rollback: back, commit: () => commit().then(back) });
  };
  return {
    branch: ({ name, head }: Branch) =>
      remove(name, t('versioning.branchGoing', { name }), () => deleteBranch(name, head?.commit ?? '')),
    tag: ({ name }: Tag) => remove(name, t('versioning.tagGoing', { name }), () => deleteTag(name)),
  };
}

function useBranchColumns(
  name: string,
  mayWrite: boolean,
  /** Left out where there is no other branch. */
  onMerge: ((branch: string) => void) | undefined,
  onDelete: (branch: Branch) => void,
): Column<Branch>[] {
  const { t } = useTranslation();
  return [
    { key: 'name', header: t('datasets.branch'), cell: (row) => <Text size="sm">{row.name}</Text> },
    { key: 'at', header: t('versioning.at'), cell: ({ head }) => <At name={name} at={head?.ref} /> },
    { key: 'updated', header: t('versioning.updated'), cell: (row) => <RelativeTime at={row.updated_at} /> },
    {
      key: 'actions',
      header: t('versioning.actions'),
      align: 'right',
      cell: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Tooltip label={t('versioning.history', { name: row.name })}>
            <IconLink
              to="/datasets/$name/versions"
              params={{ name }}
              search={{ branch: row.name }}
              aria-label={t('versioning.history', { name: row.name })}
            >
              <IconHistory size={15} />
            </IconLink>
          </Tooltip>
          {mayWrite && onMerge && (
            <Action label={t('versioning.mergeOf', { name: row.name })} onClick={() => onMerge(row.name)}>
              <IconGitMerge size={15} />
            </Action>
          )}
          {mayWrite && row.name !== MAIN && (
            <Action label={t('versioning.deleteOf', { name: row.name })} takesRow onClick={() => onDelete(row)}>
              <IconTrash size={15} />
            </Action>
          )}
        </Group>
      ),
    },
  ];
}

function useTagColumns(name: string, mayDelete: boolean, onDelete: (tag: Tag) => void): Column<Tag>[] {
  const { t } = useTranslation();
  return [
    { key: 'name', header: t('versioning.tag'), cell: (row) => <Text size="sm">{row.name}</Text> },
    { key: 'at', header: t('versioning.at'), cell: ({ version }) => <At name={name} at={version?.ref} /> },
    {
      key: 'actions',
      header: t('versioning.actions'),
      align: 'right',
      cell: (row) =>
        mayDelete ? (
          <Action label={t('versioning.deleteOf', { name: row.name })} takesRow onClick={() => onDelete(row)}>
            <IconTrash size={15} />
          </Action>
        ) : null,
    },
  ];
}

function At({ name, at }: { name: string; at: string | undefined }) {
  if (!at) return '–';
  return (
    <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref: at }} size="sm">
      {at}
    </AnchorLink>
  );
}

interface ActionProps {
  label: string;
  /** Its row goes with it, and the focus to the next one. */
  takesRow?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Action({ label, takesRow, onClick, children }: ActionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        data-takes-row={takesRow}
        onClick={(event) => {
          if (takesRow) focusNeighbour(event.currentTarget);
          onClick();
        }}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
