import { Alert, Button, Center, Stack, Text, Title } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorState } from '@/shared/ui/ErrorState';
import { Logo } from '@/shared/ui/Logo';
import { ButtonLink } from '@/shared/ui/links';
import { unsubscribe } from './queries';

const route = getRouteApi('/unsubscribe/$link');

/** The way out of a mail. It waits for a press: programs that look at links must not unsubscribe anybody. */
export function UnsubscribePage() {
  const { t } = useTranslation();
  const { link } = route.useParams();
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => unsubscribe(link) });
  const title = t('notifications.unsubscribe');
  useEffect(() => {
    document.title = [title, 'Atom'].join(' · ');
  }, [title]);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w={{ base: '100%', xs: 400 }} gap="md">
        <Logo size={40} />
        <Title order={1} fz={20}>
          {title}
        </Title>
        {data ? (
          <Alert color="teal" icon={<IconCheck size={18} />} role="status">
            {t('notifications.unsubscribed', { topic: t(`notifications.topics.${data.topic}`) })}
          </Alert>
        ) : (
          <>
            <Text size="sm">{t('notifications.unsubscribeHint')}</Text>
            {error && <ErrorState error={error} compact />}
            <Button loading={isPending} onClick={() => mutate()}>
              {t('notifications.unsubscribeDo')}
            </Button>
          </>
        )}
        <ButtonLink to="/settings/notifications" variant="default">
          {t('notifications.toSettings')}
        </ButtonLink>
      </Stack>
    </Center>
  );
}
