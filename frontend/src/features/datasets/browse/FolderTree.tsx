import { Button, Skeleton } from '@mantine/core';
import { IconChevronRight, IconFolder, IconFolderOpen } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorState } from '@/shared/ui/ErrorState';
import { visible } from '@/shared/ui/visible';
import { ancestors } from '../names';
import { fetchEntries, type VersionAddress } from '../queries';
import classes from './browse.module.css';

/** Folders and files of one request. */
const PAGE = 200;

interface FolderTreeProps {
  address: VersionAddress;
  /** The open folder's prefix, `train/cats/`; empty: the root. */
  path: string;
  onPath: (prefix: string) => void;
}

/** The folders directly below a prefix. A page holds files too, so a folder of many files has more pages. */
function useFolders(address: VersionAddress, prefix: string) {
  const query = useInfiniteQuery({
    queryKey: ['folders', address, prefix],
    queryFn: ({ pageParam, signal }) =>
      fetchEntries(address, { prefix, delimiter: '/', limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { ...query, folders: query.data?.pages.flatMap((page) => page.folders) ?? [] };
}

/** Moves the focus along the visible nodes; left and right close and open, as trees do. */
function onTreeKey(event: KeyboardEvent<HTMLElement>): void {
  const nodes = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const at = nodes.indexOf(document.activeElement as HTMLElement);
  const current = nodes[at];
  if (!current) return;
  const expanded = current.getAttribute('aria-expanded');
  const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: nodes.length - 1 };
  const target = moves[event.key];
  if (target !== undefined) nodes[target]?.focus();
  else if (event.key === 'ArrowRight' && expanded === 'false')
    current.querySelector<HTMLElement>('[data-toggle]')?.click();
  else if (event.key === 'ArrowLeft' && expanded === 'true')
    current.querySelector<HTMLElement>('[data-toggle]')?.click();
  else if (event.key === 'Enter' || event.key === ' ') current.click();
  else return;
  event.preventDefault();
}

export function FolderTree({ address, path, onPath }: FolderTreeProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(ancestors(path)));
  // A deep link, or a folder chosen elsewhere: show the way to it.
  useEffect(() => setOpen((old) => new Set([...old, ...ancestors(path)])), [path]);
  const toggle = (prefix: string) =>
    setOpen((old) => {
      const next = new Set(old);
      if (!next.delete(prefix)) next.add(prefix);
      return next;
    });
  const root = useFolders(address, '');
  return (
    <nav className={classes.tree} aria-label={t('datasets.folders')}>
      <div role="tree" aria-label={t('datasets.folderTree')} onKeyDown={onTreeKey} tabIndex={-1}>
        <Node name={t('datasets.allFolders')} selected={path === ''} level={1} onSelect={() => onPath('')} />
        {root.error && <ErrorState error={root.error} compact onRetry={() => void root.refetch()} />}
        {root.isPending && <Skeleton height={60} mt={6} />}
        <Level address={address} prefix="" level={1} path={path} open={open} onToggle={toggle} onPath={onPath} />
      </div>
    </nav>
  );
}

interface LevelProps extends FolderTreeProps {
  prefix: string;
  level: number;
  open: ReadonlySet<string>;
  onToggle: (prefix: string) => void;
}

function Level(props: LevelProps) {
  const { t } = useTranslation();
  const { address, prefix, level, path, open, onToggle, onPath } = props;
  const { folders, hasNextPage, fetchNextPage, isFetchingNextPage } = useFolders(address, prefix);
  return (
    <>
      {folders.map((folder) => {
        const isOpen = open.has(folder.prefix);
        return (
          <div key={folder.prefix} role="none">
            <Node
              name={folder.name}
              selected={path === folder.prefix}
              level={level}
              expanded={isOpen}
              onToggle={() => onToggle(folder.prefix)}
              onSelect={() => onPath(folder.prefix)}
            />
            {isOpen && <Level {...props} prefix={folder.prefix} level={level + 1} />}
          </div>
        );
      })}
      {hasNextPage && (prefix === '' || folders.length > 0) && (
        <div role="none">
          <Button
            size="compact-xs"
            variant="subtle"
            role="treeitem"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
            ml={6 + level * 14}
          >
            {t('datasets.moreFolders')}
          </Button>
        </div>
      )}
    </>
  );
}

interface NodeProps {
  name: string;
  selected: boolean;
  level: number;
  expanded?: boolean;
  onToggle?: () => void;
  onSelect: () => void;
}

function Node({ name, selected, level, expanded, onToggle, onSelect }: NodeProps) {
  const Glyph = expanded || (selected && !onToggle) ? IconFolderOpen : IconFolder;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of all nodes
    <div
      role="treeitem"
      aria-level={level}
      aria-selected={selected}
      aria-expanded={expanded}
      tabIndex={selected ? 0 : -1}
      className={classes.node}
      style={{ paddingLeft: 6 + (level - 1) * 14 }}
      onClick={onSelect}
      onDoubleClick={onToggle}
    >
      <span
        className={classes.toggle}
        data-toggle
        data-open={expanded || undefined}
        aria-hidden
        onClick={(event) => {
          event.stopPropagation();
          onToggle?.();
        }}
      >
        {onToggle && <IconChevronRight size={13} />}
      </span>
      <Glyph size={15} stroke={1.6} aria-hidden style={{ flex: 'none' }} />
      {visible(name)}
    </div>
  );
}
