import { ActionIcon, Badge, Group, Tooltip } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { LogFeed } from './logFeed';

const COLORS = { loading: 'gray', live: 'teal', paused: 'yellow', ended: 'gray', failed: 'red' } as const;

/** Whether new lines are coming, and a button that holds them back. */
export function FeedBadge({ feed }: { feed: LogFeed }) {
  const { t } = useTranslation();
  const paused = feed.state === 'paused';
  const label = paused ? t('live.resume') : t('live.pause');
  return (
    <Group gap={2} wrap="nowrap">
      <Badge color={COLORS[feed.state]} aria-live="polite" data-feed={feed.state}>
        {t(`jobs.log.feed.${feed.state}`)}
      </Badge>
      {(paused || feed.state === 'live' || feed.state === 'loading') && (
        <Tooltip label={label}>
          <ActionIcon size="sm" color="gray" aria-label={label} onClick={() => (paused ? feed.resume() : feed.pause())}>
            {paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}
