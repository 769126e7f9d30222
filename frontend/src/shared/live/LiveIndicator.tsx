import { ActionIcon, Badge, Group, Tooltip } from '@mantine/core';
import { IconBroadcast, IconPlayerPause, IconPlayerPlay, IconPlugConnectedX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Live } from './useLive';

const COLORS = { connecting: 'gray', live: 'teal', reconnecting: 'orange', paused: 'yellow', closed: 'gray' } as const;

/** Says whether the page is live, and pauses or resumes it. */
export function LiveIndicator({ live }: { live: Live }) {
  const { t } = useTranslation();
  const Glyph = live.status === 'reconnecting' ? IconPlugConnectedX : IconBroadcast;
  return (
    <Group gap={2} wrap="nowrap" aria-live="polite">
      <Badge color={COLORS[live.status]} leftSection={<Glyph size={12} aria-hidden />} data-live={live.status}>
        {t(`live.${live.status}`)}
      </Badge>
      {live.status !== 'closed' && (
        <Tooltip label={live.paused ? t('live.resume') : t('live.pause')}>
          <ActionIcon
            size="sm"
            color="gray"
            aria-label={live.paused ? t('live.resume') : t('live.pause')}
            onClick={live.paused ? live.resume : live.pause}
          >
            {live.paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}
