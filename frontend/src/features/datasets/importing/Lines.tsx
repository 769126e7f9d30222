import { List, Text } from '@mantine/core';

/** Sentences as a list; long paths in them break. */
export function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <List size="sm">
      {lines.map((line) => (
        <List.Item key={line}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {line}
          </Text>
        </List.Item>
      ))}
    </List>
  );
}
