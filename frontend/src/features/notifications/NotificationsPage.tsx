import { ActionIcon, Button, Card, Group, SegmentedControl, Select, Tooltip, UnstyledButton } from '@mantine/core';
import { IconBellOff, IconChecks, IconChevronRight, IconMail, IconMailOpened, IconSettings } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Notification } from '@/api/contract/notifications';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { useFormat } from '@/shared/ui/format';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { confirmUndo, notifyError } from '@/shared/ui/undo';
import { grouped, isGroup, type Line } from './groups';
import classes from './notifications.module.css';
import { markRead, markUnread, useNotifications, useRefresh } from './queries';
import { TOPICS, type Topic } from './topics';
import { linkOf, useGroupTitle, useTitle } from './words/index';

const MAX_IDS = 200;
const route = getRouteApi('/notifications');

/** All that one was told, to read, to filter and to mark. */
export function NotificationsPage() {
  const { t } = useTranslation();
  const { show, topic } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (search: { show?: 'unread'; topic?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...search }), replace: true });
  const known = TOPICS.find((one) => one === topic);
  const list = useNotifications({ unread: show && 'true', topic: known });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const marking = useMarking();
  const rows = list.rows?.map((row) => (marking.isMarked(row) ? { ...row, read_at: row.at } : row));
  const markSome = () => {
    const chosen = lines?.filter(({ key }) => selected.has(key)).flatMap((line) => line.rows) ?? [];
    marking.some([...new Set(chosen.map(({ id }) => id))]);
    setSelected(new Set());
  };
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const lines = rows && grouped(rows, open);
  const toggle = (key: string) =>
    setOpen((old) => {
      const next = new Set(old);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const columns = useColumns(open, toggle);
  const nameOf = useLineTitle();
  const format = useFormat();
  const first = list.rows?.[0];
  const hasUnread = rows?.some(({ read_at }) => read_at === null) ?? false;
  return (
    <Page>
      <PageHeader title={t('notifications.title')} subtitle={t('notifications.subtitle')}>
        <ButtonLink to="/settings/notifications" variant="default" leftSection={<IconSettings size={15} />}>
          {t('notifications.settings')}
        </ButtonLink>
      </PageHeader>
      <Group gap="xs" mb="sm">
        <SegmentedControl
          size="xs"
          aria-label={t('notifications.which')}
          value={show ?? 'all'}
          onChange={(value) => set({ show: value === 'unread' ? 'unread' : undefined })}
          data={[
            { value: 'all', label: t('notifications.all') },
            { value: 'unread', label: t('notifications.onlyUnread') },
          ]}
        />
        <Select
          size="xs"
          w={210}
          aria-label={t('notifications.topic')}
          placeholder={t('notifications.anyTopic')}
          data={TOPICS.map((one) => ({ value: one, label: t(`notifications.topics.${one}`) }))}
          value={known ?? null}
          onChange={(next) => set({ topic: next ?? undefined })}
          clearable
          clearButtonProps={{ 'aria-label': t('common.clear') }}
        />
        {selected.size > 0 && (
          <Button size="xs" variant="light" leftSection={<IconMailOpened size={15} />} onClick={markSome}>
            {t('notifications.markRead')}
          </Button>
        )}
        {selected.size === 0 && (
          <Button
            size="xs"
            variant="light"
            leftSection={<IconChecks size={15} />}
            disabled={!first || !hasUnread}
            onClick={() => first && marking.all(first, known)}
          >
            {t('notifications.markAll')}
          </Button>
        )}
      </Group>
      <Card p={0}>
        <DataTable
          {...list}
          rows={lines}
          label={t('notifications.title')}
          columns={columns}
          rowKey={({ key }) => key}
          rowName={nameOf}
          section={({ rows: [{ at }] }) => format.day(at)}
          rowLink={(line) => (isGroup(line) ? null : linkOf(line.rows[0].path))}
          selected={selected}
          onSelect={setSelected}
          empty={<Nothing filtered={show !== undefined || known !== undefined} onAll={() => set(NO_FILTER)} />}
        />
      </Card>
    </Page>
  );
}

const NO_FILTER = { show: undefined, topic: undefined };

/** Marks at once on the screen, and on the server when the time to undo is over. */
function useMarking() {
  const { t } = useTranslation();
  const refresh = useRefresh();
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [until, setUntil] = useState<string | null>(null);
  const forget = () => {
    setMarked(new Set());
    setUntil(null);
  };
  const begin = (message: string, send: () => Promise<unknown>) =>
    confirmUndo({ message, commit: () => send().then(refresh).then(forget), rollback: forget });
  return {
    isMarked: ({ id, at }: Notification) => marked.has(id) || (until !== null && at <= until),
    some: (ids: string[]) => {
      setMarked(new Set([...marked, ...ids]));
      begin(t('notifications.marking', { count: ids.length }), () => markRead({ ids }));
    },
    all: ({ id, at }: Notification, topic: Topic | undefined) => {
      setUntil(at);
      begin(t('notifications.markingAll'), () => markRead({ until: id, ...(topic && { topic }) }));
    },
  };
}

function useLineTitle(): (line: Line) => string {
  const titleOf = useTitle();
  const groupTitleOf = useGroupTitle();
  return (line) => (isGroup(line) ? groupTitleOf(line) : titleOf(line.rows[0]));
}

function useColumns(open: ReadonlySet<string>, toggle: (key: string) => void): Column<Line>[] {
  const { t } = useTranslation();
  const titleOf = useLineTitle();
  return [
    {
      key: 'what',
      header: t('notifications.what'),
      elastic: true,
      cell: (line) => {
        const said = (
          <span
            className={classes.said}
            data-unread={line.rows[0].read_at === null || undefined}
            data-inside={line.isInside || undefined}
          >
            {titleOf(line)}
          </span>
        );
        if (!isGroup(line)) return said;
        const isOpen = open.has(line.key);
        return (
          <UnstyledButton
            className={classes.group}
            aria-expanded={isOpen}
            data-row-link
            onClick={() => toggle(line.key)}
          >
            <IconChevronRight size={14} aria-hidden className={classes.chevron} data-open={isOpen || undefined} />
            {said}
          </UnstyledButton>
        );
      },
    },
    {
      key: 'project',
      header: t('notifications.project'),
      from: 'sm',
      cell: ({ rows: [{ project }] }) => project?.name ?? '–',
    },
    {
      key: 'at',
      header: t('notifications.when'),
      nowrap: true,
      cell: ({ rows: [{ at }] }) => <RelativeTime at={at} />,
    },
    { key: 'state', header: t('notifications.state'), align: 'right', cell: (line) => <Toggle line={line} /> },
  ];
}

function Toggle({ line }: { line: Line }) {
  const { t } = useTranslation();
  const refresh = useRefresh();
  const name = useLineTitle()(line);
  const isUnread = line.rows[0].read_at === null;
  const send = async () => {
    const ids = line.rows.map(({ id }) => id);
    // The server takes so many at once.
    for (let start = 0; start < ids.length; start += MAX_IDS) {
      const some = ids.slice(start, start + MAX_IDS);
      await (isUnread ? markRead({ ids: some }) : markUnread(some));
    }
    await refresh();
  };
  const label = isUnread ? t('notifications.markReadOf', { name }) : t('notifications.markUnreadOf', { name });
  return (
    <Tooltip label={isUnread ? t('notifications.markRead') : t('notifications.markUnread')}>
      <ActionIcon
        size="sm"
        color={isUnread ? 'atom' : 'gray'}
        aria-label={label}
        onClick={() => void send().catch(notifyError)}
      >
        {isUnread ? <IconMail size={15} /> : <IconMailOpened size={15} />}
      </ActionIcon>
    </Tooltip>
  );
}

function Nothing({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  const { t } = useTranslation();
  if (!filtered) return <EmptyState icon={IconBellOff} title={t('notifications.empty')} />;
  return (
    <EmptyState
      icon={IconBellOff}
      title={t('notifications.emptyUnread')}
      action={
        <Button variant="default" onClick={onAll}>
          {t('notifications.showAll')}
        </Button>
      }
    />
  );
}
