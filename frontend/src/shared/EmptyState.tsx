import { Stack, Text, ThemeIcon } from '@mantine/core';
import { type Icon, IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';

export interface EmptyStateProps {
  title: string;
  /** Why it is empty, or what will appear here. */
  hint?: ReactNode;
  icon?: Icon;
  /** The next action: a button or a link. */
  action?: ReactNode;
  compact?: boolean;
}

export function EmptyState({ title, hint, icon: Glyph = IconInbox, action, compact = false }: EmptyStateProps) {
  return (
    <Stack align="center" gap={6} py={compact ? 'md' : 48} px="md" ta="center">
      <ThemeIcon variant="light" color="gray" size={compact ? 32 : 44} radius="xl" aria-hidden>
        <Glyph size={compact ? 18 : 24} stroke={1.6} />
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      {hint && (
        <Text size="sm" c="dimmed" maw="min(460px, 100%)" component="div" style={{ overflowWrap: 'anywhere' }}>
          {hint}
        </Text>
      )}
      {action && <div style={{ marginTop: 6 }}>{action}</div>}
    </Stack>
  );
}
