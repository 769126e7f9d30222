import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Numbers that change while they are looked at: each keeps its place. Entries without a value are left out. */
export function Facts({ items }: { items: [label: string, value: ReactNode][] }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 2, xs: 3, md: 6 }} spacing="sm" verticalSpacing={4} m={0}>
      {items.map(
        ([label, value]) =>
          value !== null && (
            <div key={label}>
              <Text component="dt" size="xs" c="dimmed">
                {label}
              </Text>
              <Text component="dd" size="sm" m={0} className="tabular">
                {value}
              </Text>
            </div>
          ),
      )}
    </SimpleGrid>
  );
}
