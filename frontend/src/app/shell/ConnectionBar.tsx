import { Button, Group, Text } from '@mantine/core';
import { IconCloudOff, IconHourglass } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { type ConnectionState, connection, useConnection } from '@/shared/live/connection';
import { useFormat } from '@/shared/ui/format';
import classes from './ConnectionBar.module.css';

const TICK_MS = 500;

/** Over the page, not in it: nothing moves when it comes or goes. */
export function ConnectionBar() {
  const state = useConnection();
  const waits = useIsWaitingForService();
  if (state.kind !== 'online') return <Away state={state} />;
  return waits ? <Waiting /> : null;
}

function Away({ state }: { state: ConnectionState }) {
  const { t } = useTranslation();
  const format = useFormat();
  const time = format.time(new Date(state.heardAtMs));
  return (
    <Group className={classes.bar} gap="xs" data-connection={state.kind}>
      <IconCloudOff size={16} aria-hidden />
      <Text size="sm" role="status" className={classes.words}>
        {t(state.kind === 'offline' ? 'shell.offline' : 'shell.unreachable')} {t('shell.asOf', { time })}
      </Text>
      <Countdown untilMs={state.retryAtMs} />
      <Button size="compact-xs" variant="default" onClick={() => void connection.check()}>
        {t('shell.tryNow')}
      </Button>
    </Group>
  );
}

function Countdown({ untilMs }: { untilMs: number | null }) {
  const { t } = useTranslation();
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const leftS = untilMs === null ? 0 : Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
  // Not read aloud each second.
  return (
    <Text size="sm" aria-hidden className={classes.countdown}>
      {leftS > 0 ? t('shell.tryingIn', { seconds: leftS }) : t('shell.trying')}
    </Text>
  );
}

/** Whether a question waits for a service that is starting again. */
function useIsWaitingForService(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () =>
      cache.getAll().some(({ state: { fetchStatus, fetchFailureReason: reason } }) => {
        return fetchStatus !== 'idle' && reason !== null && asApiError(reason).isTemporary;
      }),
  );
}

function Waiting() {
  const { t } = useTranslation();
  return (
    <Group className={classes.bar} gap="xs">
      <IconHourglass size={16} aria-hidden />
      <Text size="sm" role="status">
        {t('errors.unavailableRetrying')}
      </Text>
    </Group>
  );
}
