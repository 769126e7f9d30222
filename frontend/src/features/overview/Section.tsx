import { Card, Group, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** One card of the overview: a heading, a link to all of it, and a short list. */
export function Section({ title, all, children }: { title: string; all: ReactNode; children: ReactNode }) {
  return (
    <Card component="section" aria-label={title} h="100%">
      <Group justify="space-between" mb="xs">
        <Title order={2} fz="md">
          {title}
        </Title>
        {all}
      </Group>
      {children}
    </Card>
  );
}
