import { Card, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A card of facts under a heading. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card padding="md">
      <Title order={2} fz="sm" mb="xs">
        {title}
      </Title>
      {children}
    </Card>
  );
}

/** A value of a parameter as text. */
export const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
