import { ActionIcon, Indicator, Popover } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useRouterState } from '@tanstack/react-router';
import { type ComponentType, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { whenReachable } from '@/shared/live/connection';
import type { LiveStatus } from '@/shared/live/socket';
import { useLive } from '@/shared/live/useLive';
import { notifyError } from '@/shared/ui/undo';
import { markRead, useRefresh, useRefreshRoles, useUnreadCount } from './queries';

const MANY = 100;

const load = whenReachable(() => import('./Latest'));
/** Before the click: it says itself if nothing came. */
const loadEarly = () => void load().catch(() => undefined);

/** The bell of the header: how many are unread, and the latest of them. */
export function Bell() {
  const { t } = useTranslation();
  const [opened, setOpened] = useState(false);
  const [Latest, setLatest] = useState<ComponentType<{ unread: number; onClose: () => void }> | null>(null);
  const unread = useUnreadCount();
  const refresh = useRefresh();
  const refreshRoles = useRefreshRoles();
  const { status } = useLive<{ type: string }>({
    path: '/ws/notifications/',
    onMessages: (batch) => {
      void refresh();
      // A notification may be about a role that was given or taken away.
      if (batch.some(({ type }) => type === 'notification')) void refreshRoles();
    },
  });
  useAskWhenClosed(status, refresh);
  useReadByLooking();
  // Loaded before it opens: the focus moves to the first link that is there.
  const open = async () => {
    const { default: loaded } = await load();
    setLatest(() => loaded);
    setOpened(true);
  };
  const toggle = () => (opened ? setOpened(false) : void open().catch(notifyError));
  const label = t('bell.open', { count: unread });
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width="min(400px, 96vw)" trapFocus returnFocus>
      <Indicator
        disabled={unread === 0}
        label={unread >= MANY ? t('bell.many') : unread}
        size={16}
        offset={6}
        color="red"
        inline
      >
        <Popover.Target>
          <ActionIcon
            color="gray"
            size="lg"
            aria-label={label}
            onClick={toggle}
            onPointerEnter={loadEarly}
            onFocus={loadEarly}
          >
            <IconBell size={18} />
          </ActionIcon>
        </Popover.Target>
      </Indicator>
      <Popover.Dropdown p="xs" aria-label={t('bell.latest')}>
        {opened && Latest && <Latest unread={unread} onClose={() => setOpened(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

/** The server closes it for good when the session ends, in another browser say: what is asked now is told so. */
function useAskWhenClosed(status: LiveStatus, ask: () => Promise<unknown>): void {
  const wasLive = useRef(false);
  useEffect(() => {
    if (wasLive.current && status === 'closed') void ask();
    wasLive.current = status === 'live';
  }, [status, ask]);
}

/** Whoever opens the page of a thing has been told of it. */
function useReadByLooking(): void {
  const refresh = useRefresh();
  const subject = useRouterState({
    select: ({ matches }) => {
      const params = matches.at(-1)?.params as { runId?: string; taskId?: string } | undefined;
      return params?.runId ?? params?.taskId;
    },
  });
  useEffect(() => {
    if (subject === undefined) return;
    // That it fails is no reason to complain: nobody asked for it.
    markRead({ subject }).then(
      ({ data }) => (data?.changed ? refresh() : undefined),
      () => undefined,
    );
  }, [subject, refresh]);
}
