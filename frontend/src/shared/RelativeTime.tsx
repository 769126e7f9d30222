import { Text, Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from './format';

const TICK_MS = 15_000;
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** One clock for every "3 minutes ago" on the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const notify of listeners) notify();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}

/** `3 minutes ago`, with the absolute time as a tooltip; "Never" for no time. */
export function RelativeTime({ at }: { at: string | null | undefined }) {
  const { t } = useTranslation();
  const format = useFormat();
  const now = useNow();
  if (!at)
    return (
      <Text span inherit c="dimmed">
        {t('common.never')}
      </Text>
    );
  // A server clock a little ahead of ours must not read "in 2 seconds".
  const reference = Math.max(now, Math.min(Date.parse(at), Date.now() + 5000));
  return (
    <Tooltip label={format.dateTime(at)}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {format.relative(at, reference)}
      </time>
    </Tooltip>
  );
}
