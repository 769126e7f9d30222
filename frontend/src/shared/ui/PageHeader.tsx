import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

export interface PageHeaderProps {
  /** The heading; also the document's title unless `documentTitle` is given. */
  title: ReactNode;
  documentTitle?: string;
  subtitle?: ReactNode;
  /** Badges beside the heading. */
  badges?: ReactNode;
  /** Breadcrumb or back link above the heading. */
  above?: ReactNode;
  /** The page's actions, right-aligned. */
  children?: ReactNode;
}

export function PageHeader({ title, documentTitle, subtitle, badges, above, children }: PageHeaderProps) {
  const name = documentTitle ?? (typeof title === 'string' ? title : undefined);
  useEffect(() => {
    document.title = name ? `${name} · Atom` : 'Atom';
  }, [name]);
  return (
    <Group justify="space-between" align="flex-end" mb="md" gap="sm">
      <div style={{ minWidth: 0, flex: '1 1 320px' }}>
        {above}
        <Group gap="sm" align="center">
          <Title order={1} fz={22} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {badges}
        </Group>
        {subtitle && (
          <Text c="dimmed" size="sm" component="div" mt={2}>
            {subtitle}
          </Text>
        )}
      </div>
      {children && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
