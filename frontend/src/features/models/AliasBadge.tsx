import { Badge } from '@mantine/core';

const COLORS: Record<string, string> = { production: 'teal', candidate: 'atom', staging: 'cyan', archived: 'gray' };

export function AliasBadge({ name }: { name: string }) {
  return (
    <Badge color={COLORS[name] ?? 'grape'} miw="max-content">
      {name}
    </Badge>
  );
}
