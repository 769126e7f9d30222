import { Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunRequest } from '@/api/contract/jobs';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CopyIcon } from '@/shared/ui/CopyId';
import { toCli, toYaml } from './asText';

export function ReviewStep({ request, project }: { request: RunRequest; project: string }) {
  const { t } = useTranslation();
  const [format, setFormat] = useState<'yaml' | 'json'>('yaml');
  const text = format === 'yaml' ? toYaml(request) : JSON.stringify(request, null, 2);
  return (
    <Stack gap="md">
      <div>
        <Group justify="space-between" mb={6}>
          <Text size="sm" fw={600}>
            {t('wizard.request')}
          </Text>
          <Group gap="xs">
            <SegmentedControl
              size="xs"
              aria-label={t('wizard.request')}
              value={format}
              onChange={(value) => setFormat(value as 'yaml' | 'json')}
              data={[
                { value: 'yaml', label: 'YAML' },
                { value: 'json', label: 'JSON' },
              ]}
            />
            <CopyIcon value={text} what={t('wizard.request')} />
          </Group>
        </Group>
        <Code block tabIndex={0}>
          {text}
        </Code>
      </div>
      <div>
        <Text size="sm" fw={600} mb={6}>
          {t('wizard.cli')}
        </Text>
        <CommandLine command={toCli(request, project)} />
      </div>
    </Stack>
  );
}
