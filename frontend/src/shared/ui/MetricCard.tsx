import { Card, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export interface MetricCardProps {
  label: string;
  value: ReactNode;
  /** A small remark under the value. */
  hint?: ReactNode;
  icon?: ReactNode;
  /** A Sparkline or ProgressBar under everything. */
  children?: ReactNode;
}

export function MetricCard({ label, value, hint, icon, children }: MetricCardProps) {
  return (
    <Card padding="md">
      <Group justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed" fw={600}>
          {label}
        </Text>
        {icon}
      </Group>
      <Text fz={26} fw={680} lh={1.3} className="tabular" style={{ letterSpacing: '-0.02em' }} component="div">
        {value}
      </Text>
      {hint && (
        <Text size="xs" c="dimmed" component="div">
          {hint}
        </Text>
      )}
      {children}
    </Card>
  );
}
