import { Group, Slider, Text } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';

interface SmoothingSliderProps {
  /** The weight of what came before, 0 (none) to 0.99. */
  value: number;
  onChange: (value: number) => void;
  w: number;
}

/** How much curves are smoothed. */
export function SmoothingSlider({ value, onChange, w }: SmoothingSliderProps) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="xs" fw={600} id={id}>
        {t('jobs.curves.smoothing')}
      </Text>
      <Slider
        w={w}
        size="sm"
        min={0}
        max={0.99}
        step={0.01}
        label={(shown) => shown.toFixed(2)}
        value={value}
        onChange={onChange}
        thumbProps={{ 'aria-labelledby': id }}
      />
    </Group>
  );
}
