import { Code, Group } from '@mantine/core';
import { CopyIcon } from './CopyId';

/** A command to paste into a shell, with its copy button; `what` names that where it should not say the command. */
export function CommandLine({ command, what }: { command: string; what?: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Code block style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }} py={6}>
        {command}
      </Code>
      <CopyIcon value={command} what={what} />
    </Group>
  );
}
