import { ActionIcon, Group, Tooltip } from '@mantine/core';
import { IconMaximize, IconZoomIn, IconZoomOut } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { FITTED, type View, zoomed } from './view';
import { ZOOM_STEP } from './ZoomFrame';

interface ZoomButtonsProps {
  onView: (change: (old: View) => View) => void;
  className?: string | undefined;
}

export function ZoomButtons({ onView, className }: ZoomButtonsProps) {
  const { t } = useTranslation();
  const actions = [
    { label: t('item.zoomIn'), icon: IconZoomIn, run: () => onView((old) => zoomed(old, ZOOM_STEP)) },
    { label: t('item.zoomOut'), icon: IconZoomOut, run: () => onView((old) => zoomed(old, 1 / ZOOM_STEP)) },
    { label: t('item.fit'), icon: IconMaximize, run: () => onView(() => FITTED) },
  ];
  return (
    <Group gap={4} className={className}>
      {actions.map(({ label, icon: Glyph, run }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon variant="default" aria-label={label} onClick={run}>
            <Glyph size={16} />
          </ActionIcon>
        </Tooltip>
      ))}
    </Group>
  );
}
