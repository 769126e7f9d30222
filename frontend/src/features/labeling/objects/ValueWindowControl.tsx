import { ActionIcon, Button, Group, Popover, Slider, Stack, Text, Tooltip } from '@mantine/core';
import { IconContrast2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useStored } from '@/shared/ui/stored';
import { type ValueWindow, windowOfRange } from '../canvas/deepTile';
import type { TileSource } from '../canvas/tiles';

/** The window of a task's deep pictures, kept in this browser; null shows each picture's whole range. */
export function useValueWindow(taskId: string): [ValueWindow | null, (window: ValueWindow | null) => void] {
  const [stored, setStored] = useStored(`atom-value-window/${taskId}`, '');
  const [centre, width] = stored.split(' ').map(Number);
  const window =
    stored && Number.isFinite(centre) && (width ?? 0) > 0 ? { centre: centre ?? 0, width: width ?? 1 } : null;
  return [window, (next) => setStored(next ? `${next.centre} ${next.width}` : '')];
}

interface ValueWindowControlProps {
  source: TileSource | null;
  window: ValueWindow | null;
  onChange: (window: ValueWindow | null) => void;
}

/** Which values of a deep picture are black and white. */
export function ValueWindowControl({ source, window, onChange }: ValueWindowControlProps) {
  const { t } = useTranslation();
  if (!source || source.bits <= 8) return null;
  const shown = window ?? windowOfRange(source.low, source.high);
  const span = Math.max(1, source.high - source.low);
  const name = t('labeling.objects.window.name');
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label={name}>
          <ActionIcon variant="default" size="lg" aria-label={name}>
            <IconContrast2 size={16} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={4} w={240}>
          <Text size="xs">{t('labeling.objects.window.centre')}</Text>
          <Slider
            min={source.low}
            max={source.high}
            value={shown.centre}
            thumbLabel={t('labeling.objects.window.centre')}
            onChange={(centre) => onChange({ ...shown, centre })}
          />
          <Text size="xs">{t('labeling.objects.window.width')}</Text>
          <Slider
            min={1}
            max={span}
            value={shown.width}
            thumbLabel={t('labeling.objects.window.width')}
            onChange={(width) => onChange({ ...shown, width })}
          />
          <Group gap={6} mt={6}>
            <Button size="compact-xs" variant="default" onClick={() => onChange(null)}>
              {t('labeling.objects.window.range')}
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
