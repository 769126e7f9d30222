import { Button, Popover, Stack, Text } from '@mantine/core';
import { IconTerminal2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/shared/ui/CommandLine';
import { pullCommand } from '../names';
import { ImportCommands } from './ImportCommands';

/** The commands that copy this version to a folder, and push the next one. */
export function PullPanel({ name, version }: { name: string; version: string }) {
  const { t } = useTranslation();
  return (
    <Popover width={440} position="bottom-end" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconTerminal2 size={15} />}>
          {t('datasets.terminal')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            {t('datasets.pull')}
          </Text>
          <CommandLine command={pullCommand(name, version)} />
          <Text size="xs" c="dimmed">
            {t('datasets.pullStays')}
          </Text>
          <Text size="sm" fw={600}>
            {t('datasets.push')}
          </Text>
          <CommandLine command={`atom data push ./${name} ${name} -m "…"`} />
          <Text size="sm" fw={600}>
            {t('datasets.import')}
          </Text>
          <ImportCommands name={name} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
