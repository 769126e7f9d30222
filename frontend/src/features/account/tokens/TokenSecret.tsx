import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '@/shared/ui/CommandLine';

export function TokenSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { t } = useTranslation();
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('settings.shownOnce')} role="alert">
        {t('settings.shownOnceHint')}
      </Alert>
      <section aria-label={t('settings.secret')} data-secret>
        <CommandLine command={secret} what={t('settings.secret')} />
      </section>
      <Text size="sm">{t('settings.useIt')}</Text>
      <CommandLine command={`atom login ${window.location.origin}`} />
      <Group justify="flex-end">
        <Button onClick={onDone}>{t('settings.done')}</Button>
      </Group>
    </Stack>
  );
}
