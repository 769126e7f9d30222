import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconMailCheck, IconMailOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { MadeInvitation } from '@/api/contract/accounts';
import { CommandLine } from '@/shared/ui/CommandLine';
import { ShownOnce } from '@/shared/ui/Dialog';

/** The link as it is shown once, and what became of the mail. */
export function InvitationLink({ made, onDone }: { made: MadeInvitation; onDone: () => void }) {
  const { t } = useTranslation();
  return (
    <ShownOnce>
      <Stack>
        <MailNote made={made} />
        <Text size="sm">{t('people.linkHint')}</Text>
        <section aria-label={t('people.link')} data-secret>
          <CommandLine command={made.link} what={t('people.link')} />
        </section>
        <Group justify="flex-end">
          <Button onClick={onDone}>{t('common.done')}</Button>
        </Group>
      </Stack>
    </ShownOnce>
  );
}

function MailNote({ made: { mail, email } }: { made: MadeInvitation }) {
  const { t } = useTranslation();
  if (mail === 'none') return null;
  if (mail === 'sent')
    return (
      <Alert color="teal" icon={<IconMailCheck size={18} />} role="status">
        {t('people.mailSent', { email })}
      </Alert>
    );
  if (mail === 'failed')
    return (
      <Alert color="red" icon={<IconAlertTriangle size={18} />} role="alert">
        {t('people.mailFailed', { email })}
      </Alert>
    );
  return (
    <Alert color="orange" icon={<IconMailOff size={18} />} role="status">
      {t('people.mailOff')}
    </Alert>
  );
}
