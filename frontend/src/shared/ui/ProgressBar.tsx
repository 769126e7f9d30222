import { Group, Progress, Text } from '@mantine/core';
import { useFormat } from './format';

export interface ProgressBarProps {
  /** 0 to 1. */
  ratio: number;
  /** The name of the progress, for screen readers. */
  label: string;
  color?: string;
  showPercent?: boolean;
}

export function ProgressBar({ ratio, label, color, showPercent = true }: ProgressBarProps) {
  const format = useFormat();
  const clamped = Math.min(1, Math.max(0, ratio));
  // Never "100 %" before it is done.
  const percent = format.percent(clamped < 1 ? Math.floor(clamped * 100) / 100 : 1);
  return (
    <Group gap="sm" wrap="nowrap">
      <Progress.Root flex={1} size="sm" miw={40}>
        <Progress.Section value={clamped * 100} color={color} aria-label={label} aria-valuetext={percent} />
      </Progress.Root>
      {showPercent && (
        <Text size="xs" c="dimmed" className="tabular" ta="right" miw={36}>
          {percent}
        </Text>
      )}
    </Group>
  );
}
