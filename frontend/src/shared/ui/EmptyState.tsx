import { Stack, Text, ThemeIcon } from '@mantine/core';
import { type Icon, IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';

export interface EmptyStateProps {
  /** One line: that nothing is here, and why if that is not plain. */
  title: string;
  icon?: Icon;
  /** The next action: a button, a link or a command. */
  action?: ReactNode;
  compact?: boolean;
}

export function EmptyState({ title, icon: Glyph = IconInbox, action, compact = false }: EmptyStateProps) {
  return (
    <Stack align="center" gap={6} py={compact ? 'md' : 48} px="md" ta="center">
      <ThemeIcon variant="light" color="gray" size={compact ? 32 : 44} radius="xl" aria-hidden>
        <Glyph size={compact ? 18 : 24} stroke={1.6} />
      </ThemeIcon>
      <Text fw={600} maw="min(560px, 100%)" style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Text>
      {action && <div style={{ marginTop: 6, maxWidth: '100%' }}>{action}</div>}
    </Stack>
  );
}
