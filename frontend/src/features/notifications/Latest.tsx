import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconBellOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { AnchorLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { notifyError } from '@/shared/ui/undo';
import { grouped, isGroup, type Line } from './groups';
import classes from './notifications.module.css';
import { markRead, useNotifications, useRefresh } from './queries';
import { linkOf, useGroupTitle, useTitle } from './words/index';

const SHOWN = 8;
/** More than are shown: many of one kind are one line. */
const LOOKED_AT = 50;
const NONE: ReadonlySet<string> = new Set();

/** The latest notifications, below the bell. */
export default function Latest({ unread, onClose }: { unread: number; onClose: () => void }) {
  const { t } = useTranslation();
  const { rows, error, refetch } = useNotifications({}, LOOKED_AT);
  const refresh = useRefresh();
  const first = rows?.[0];
  const readAll = () => void markRead({ until: first?.id ?? '' }).then(refresh, notifyError);
  return (
    <Stack gap={4}>
      <Group justify="space-between" px={10}>
        <Text fw={600} size="sm">
          {t('notifications.title')}
        </Text>
        {unread > 0 && first && (
          <Button size="compact-xs" variant="subtle" onClick={readAll}>
            {t('notifications.markAll')}
          </Button>
        )}
      </Group>
      {error != null && <ErrorState error={error} onRetry={refetch} compact />}
      {!rows && error == null && <Skeleton height={120} />}
      {rows?.length === 0 && <EmptyState compact icon={IconBellOff} title={t('notifications.empty')} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrows only move between its links. */}
      <div onKeyDown={walk}>
        {rows &&
          grouped(rows, NONE)
            .slice(0, SHOWN)
            .map((line) => <LatestLine key={line.key} line={line} onOpen={onClose} />)}
      </div>
      <Group justify="space-between" px={10}>
        <AnchorLink to="/notifications" size="sm" onClick={onClose}>
          {t('notifications.seeAll')}
        </AnchorLink>
        <AnchorLink to="/settings/notifications" size="sm" onClick={onClose}>
          {t('notifications.settings')}
        </AnchorLink>
      </Group>
    </Stack>
  );
}

/** Arrows, or J and K, move between the lines. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  if (!step) return;
  const links = [...event.currentTarget.querySelectorAll('a')];
  const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + step];
  event.preventDefault();
  next?.focus();
}

function LatestLine({ line, onOpen }: { line: Line; onOpen: () => void }) {
  const { t } = useTranslation();
  const titleOf = useTitle();
  const groupTitleOf = useGroupTitle();
  const refresh = useRefresh();
  const [row] = line.rows;
  const isUnread = row.read_at === null;
  const open = () => {
    onOpen();
    // A group is opened on the page of all.
    if (isUnread && !isGroup(line)) void markRead({ ids: [row.id] }).then(refresh, notifyError);
  };
  return (
    <Link {...(isGroup(line) ? { to: '/notifications' } : linkOf(row.path))} className={classes.line} onClick={open}>
      <span
        className={classes.dot}
        data-read={isUnread ? undefined : true}
        role="img"
        aria-label={isUnread ? t('notifications.unread') : t('notifications.isRead')}
      />
      <span className={classes.said} data-unread={isUnread || undefined}>
        <Text size="sm" fw="inherit" component="span" display="block">
          {isGroup(line) ? groupTitleOf(line) : titleOf(row)}
        </Text>
        <Text size="xs" c="dimmed" component="span" display="block" fw={400}>
          {row.project ? `${row.project.name} · ` : ''}
          <RelativeTime at={row.at} />
        </Text>
      </span>
    </Link>
  );
}
