import { Text, Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from './format';

const TICK_MS = 1000;
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** One timer for every "3 minutes ago" on the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const notify of listeners) notify();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now, to the second, for what counts on; null, and at rest, for what does not. */
export function useNow(counts: boolean): number | null {
  return useSyncExternalStore(subscribe, () => (counts ? Math.floor(Date.now() / TICK_MS) * TICK_MS : null));
}

/** `3 minutes ago`, with the absolute time as a tooltip and on paper; "Never" for no time. */
export function RelativeTime({ at }: { at: string | null | undefined }) {
  const { t } = useTranslation();
  const format = useFormat();
  // The text is the snapshot: an old time asks for no rendering before its minute, or its day, is over.
  const words = useSyncExternalStore(subscribe, () => {
    if (!at) return '';
    // A server clock a little ahead of ours must not read "in 2 seconds".
    const reference = Math.max(Date.now(), Math.min(Date.parse(at), Date.now() + 5000));
    return format.relative(at, reference);
  });
  if (!at)
    return (
      <Text span inherit c="dimmed">
        {t('common.never')}
      </Text>
    );
  const absolute = format.dateTime(at);
  return (
    <Tooltip label={absolute}>
      <time dateTime={at} data-at={absolute} style={{ whiteSpace: 'nowrap' }}>
        <span>{words}</span>
      </time>
    </Tooltip>
  );
}
