import { Button, Card, Group, Stack, Title } from '@mantine/core';
import { IconGitBranch, IconGitMerge, IconTag } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, Tag } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { DataTable, type DataTableProps } from '@/shared/grid/DataTable';
import { useArrived } from '@/shared/live/useArrived';
import { EmptyState } from '@/shared/ui/EmptyState';
import { confirmUndo } from '@/shared/ui/undo';
import { useDeleteBranch, useDeleteTag } from '../operationQueries';
import { MergeDialog } from './MergeDialog';
import { NewRefDialog } from './NewRefDialog';
import { useBranchColumns, useTagColumns } from './refColumns';

type Rows<Row> = Pick<DataTableProps<Row>, 'rows' | 'error' | 'refetch' | 'hasMore' | 'isLoadingMore' | 'loadMore'>;

interface RefTablesProps {
  name: string;
  /** Where a new branch or tag begins unless another place is chosen. */
  at: string;
  branches: Rows<Branch>;
  tags: Rows<Tag>;
  /** Whether there is a branch to merge into. */
  mayMerge: boolean;
  title: string;
  /** Beside the buttons. */
  children?: ReactNode;
  /** The text of a search without results. */
  nothingFound?: ReactNode;
}

/** The branches and tags of a dataset: made, compared, merged, deleted. */
export function RefTables({ name, at, branches, tags, mayMerge, title, children, nothingFound }: RefTablesProps) {
  const { t } = useTranslation();
  const mayWrite = useMay('researcher');
  const mayDeleteTags = useMay('admin');
  // A row disappears from the page before the server deletes it.
  const [going, setGoing] = useState<ReadonlySet<string>>(new Set());
  const [creating, setCreating] = useState<{ kind: 'branch' | 'tag'; at: string }>();
  const [merging, setMerging] = useState<string>();
  const remove = useRemoval(name, setGoing);
  const hasBranches = useArrived(branches.rows !== undefined || branches.error != null);
  const actions = mayWrite
    ? {
        onBranch: (row: { name: string }) => setCreating({ kind: 'branch', at: row.name }),
        onMerge: mayMerge ? (row: { name: string }) => setMerging(row.name) : undefined,
      }
    : {};
  const branchColumns = useBranchColumns(name, { ...actions, onDelete: mayWrite ? remove.branch : undefined });
  const tagColumns = useTagColumns(name, { ...actions, onDelete: mayDeleteTags ? remove.tag : undefined });
  const shown = <Row extends { name: string }>(rows: Row[] | undefined) => rows?.filter((row) => !going.has(row.name));
  return (
    <section aria-label={title}>
      <Group justify="space-between" mt="lg" mb="xs">
        <Title order={2} fz={16}>
          {title}
        </Title>
        <Group gap="xs">
          {children}
          {mayWrite && (
            <>
              <Button
                variant="default"
                leftSection={<IconGitBranch size={15} />}
                onClick={() => setCreating({ kind: 'branch', at })}
              >
                {t('versioning.newBranch')}
              </Button>
              <Button
                variant="default"
                leftSection={<IconTag size={15} />}
                onClick={() => setCreating({ kind: 'tag', at })}
              >
                {t('versioning.newTag')}
              </Button>
              {mayMerge && (
                <Button leftSection={<IconGitMerge size={15} />} onClick={() => setMerging(at)}>
                  {t('versioning.merge')}
                </Button>
              )}
            </>
          )}
        </Group>
      </Group>
      <Stack gap="md">
        <Card p={0}>
          <DataTable
            {...branches}
            label={t('versioning.branches')}
            columns={branchColumns}
            rows={shown(branches.rows)}
            rowKey={({ id }) => id}
            empty={nothingFound ?? <EmptyState icon={IconGitBranch} title={t('versioning.branches')} />}
          />
        </Card>
        {/* Below the branches, however many there are. */}
        {hasBranches && (
          <Card p={0}>
            <DataTable
              {...tags}
              label={t('versioning.tags')}
              columns={tagColumns}
              rows={shown(tags.rows)}
              rowKey={({ id }) => id}
              empty={nothingFound ?? <EmptyState icon={IconTag} title={t('versioning.noTags')} />}
            />
          </Card>
        )}
      </Stack>
      <NewRefDialog name={name} kind={creating?.kind} at={creating?.at ?? at} onClose={() => setCreating(undefined)} />
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
