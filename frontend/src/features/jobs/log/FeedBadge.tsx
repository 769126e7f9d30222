import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LogFeed } from './logFeed';

const COLORS = { loading: 'gray', ended: 'gray', failed: 'red' } as const;

/** How far the log has been read. That it is live, or paused, is said once, at the head of the page. */
export function FeedBadge({ feed: { state } }: { feed: LogFeed }) {
  const { t } = useTranslation();
  return (
    <span aria-live="polite">
      {state !== 'live' && state !== 'paused' && <Badge color={COLORS[state]}>{t(`runlog.feed.${state}`)}</Badge>}
    </span>
  );
}
