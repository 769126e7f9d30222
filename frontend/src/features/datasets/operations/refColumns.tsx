import { ActionIcon, Badge, Box, Group, Text, Tooltip } from '@mantine/core';
import { IconGitBranch, IconGitCompare, IconGitMerge, IconHistory, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, Tag } from '@/api/contract/datasets';
import type { Column } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { focusNeighbour } from '@/shared/ui/focusBack';
import { AnchorLink, IconLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { personName } from '../names';

const MAIN = 'main';

/** The actions on a branch or a tag; the reader may not take those that are left out. */
interface RefActions<Row> {
  onBranch?: ((row: Row) => void) | undefined;
  onMerge?: ((row: Row) => void) | undefined;
  onDelete?: ((row: Row) => void) | undefined;
}

export function useBranchColumns(name: string, { onBranch, onMerge, onDelete }: RefActions<Branch>): Column<Branch>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'name',
      header: t('datasets.branch'),
      cell: (row) => (
        <>
          <CutName name={row.name} />
          {row.name === MAIN && (
            <Tooltip label={t('versioning.mainHint')}>
              <Badge size="xs" color="gray">
                {t('versioning.protected')}
              </Badge>
            </Tooltip>
          )}
          <Box hiddenFrom="sm">
            <Distance branch={row} />
          </Box>
        </>
      ),
    },
    { key: 'at', header: t('versioning.at'), cell: ({ head }) => <At name={name} at={head?.ref} /> },
    {
      key: 'distance',
      header: t('versioning.distance'),
      nowrap: true,
      from: 'sm',
      cell: (row) => (row.name === MAIN ? '–' : <Distance branch={row} />),
    },
    { key: 'by', header: t('versioning.lastBy'), from: 'md', cell: ({ head }) => personName(head?.author) || '–' },
    {
      key: 'updated',
      header: t('versioning.updated'),
      nowrap: true,
      from: 'sm',
      cell: (row) => <RelativeTime at={row.updated_at} />,
    },
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
          {row.name !== MAIN && row.head && <Compare name={name} from={MAIN} to={row.name} />}
          {onBranch && row.head && (
            <Action label={t('versioning.branchFrom', { name: row.name })} onClick={() => onBranch(row)}>
              <IconGitBranch size={15} />
            </Action>
          )}
          {onMerge && (
            <Action label={t('versioning.mergeOf', { name: row.name })} onClick={() => onMerge(row)}>
              <IconGitMerge size={15} />
            </Action>
          )}
          {onDelete && row.name !== MAIN && (
            <Action label={t('versioning.deleteOf', { name: row.name })} takesRow onClick={() => onDelete(row)}>
              <IconTrash size={15} />
            </Action>
          )}
        </Group>
      ),
    },
  ];
}

export function useTagColumns(name: string, { onBranch, onMerge, onDelete }: RefActions<Tag>): Column<Tag>[] {
  const { t } = useTranslation();
  return [
    { key: 'name', header: t('versioning.tag'), cell: (row) => <CutName name={row.name} /> },
    { key: 'at', header: t('versioning.at'), cell: ({ version }) => <At name={name} at={version?.ref} /> },
    { key: 'by', header: t('versioning.givenBy'), from: 'md', cell: (row) => row.created_by || '–' },
    {
      key: 'since',
      header: t('versioning.given'),
      nowrap: true,
      from: 'sm',
      cell: (row) => row.created_at && <RelativeTime at={row.created_at} />,
    },
    {
      key: 'actions',
      header: t('versioning.actions'),
      align: 'right',
      cell: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Compare name={name} from={row.name} to={MAIN} />
          {onBranch && (
            <Action label={t('versioning.branchFrom', { name: row.name })} onClick={() => onBranch(row)}>
              <IconGitBranch size={15} />
            </Action>
          )}
          {onMerge && (
            <Action label={t('versioning.mergeOf', { name: row.name })} onClick={() => onMerge(row)}>
              <IconGitMerge size={15} />
            </Action>
          )}
          {onDelete && (
            <Action label={t('versioning.deleteOf', { name: row.name })} takesRow onClick={() => onDelete(row)}>
              <IconTrash size={15} />
            </Action>
          )}
        </Group>
      ),
    },
  ];
}

/** How far a branch is from `main`, in versions. */
function Distance({ branch: { name, ahead, behind } }: { branch: Branch }) {
  const { t } = useTranslation();
  if (name === MAIN || ahead === null || behind === null) return null;
  const parts = [
    ahead > 0 && t('versioning.ahead', { count: ahead }),
    behind > 0 && t('versioning.behind', { count: behind }),
  ];
  return (
    <Text size="sm" c={ahead || behind ? undefined : 'dimmed'}>
      {parts.filter(Boolean).join(' · ') || t('versioning.even')}
    </Text>
  );
}

function Compare({ name, from, to }: { name: string; from: string; to: string }) {
  const { t } = useTranslation();
  const label = t('versioning.compareOf', { from, to });
  return (
    <Tooltip label={label}>
      <IconLink to="/datasets/$name/diff" params={{ name }} search={{ from, to }} aria-label={label}>
        <IconGitCompare size={15} />
      </IconLink>
    </Tooltip>
  );
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
