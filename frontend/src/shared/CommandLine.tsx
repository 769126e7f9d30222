import { Code, Group } from '@mantine/core';
import { CopyIcon } from './CopyId';

/** A command to paste into a shell, with its copy button. */
export function CommandLine({ command }: { command: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Code block style={{ flex: 1, minWidth: 0, overflowX: 'auto', whiteSpace: 'pre' }} py={6} tabIndex={0}>
        {command}
      </Code>
      <CopyIcon value={command} />
    </Group>
  );
}
