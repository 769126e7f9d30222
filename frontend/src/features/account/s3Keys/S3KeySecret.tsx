import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { CreatedS3Key } from '@/api/contract/accounts';
import { CommandLine } from '@/shared/ui/CommandLine';
import { snippet, TOOLS } from './snippets';

export function S3KeySecret({ created, onDone }: { created: CreatedS3Key; onDone: () => void }) {
  const { t } = useTranslation();
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('settings.shownOnce')} role="alert">
        {t('settings.s3.shownOnceHint')}
      </Alert>
      <Shown label={t('settings.s3.keyId')} value={created.access_key_id} />
      <div data-secret>
        <Shown label={t('settings.s3.secret')} value={created.secret_access_key} />
      </div>
      <Tabs defaultValue={TOOLS[0]}>
        <Tabs.List aria-label={t('settings.s3.useIt')}>
          {TOOLS.map((tool) => (
            <Tabs.Tab key={tool} value={tool}>
              {tool}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {TOOLS.map((tool) => (
          <Tabs.Panel key={tool} value={tool} pt="sm">
            <CommandLine command={snippet(tool, created)} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Group justify="flex-end">
        <Button onClick={onDone}>{t('settings.done')}</Button>
      </Group>
    </Stack>
  );
}

function Shown({ label, value }: { label: string; value: string }) {
  return (
    <section aria-label={label}>
      <Text size="sm" mb={4} aria-hidden>
        {label}
      </Text>
      <CommandLine command={value} what={label} />
    </section>
  );
}
