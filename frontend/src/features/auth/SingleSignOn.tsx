import { Alert, Button, Divider } from '@mantine/core';
import { IconAlertTriangle, IconLogin2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import type { SsoFailure } from './search';

const START = '/api/v1/auth/oidc/start/';

/** The button that leads to the provider of single sign-on, where there is one. */
export function SingleSignOn({ next }: { next?: string }) {
  const { t } = useTranslation();
  const { data } = $api.useQuery('get', '/api/v1/auth/oidc/', {}, { retry: false, staleTime: 60_000 });
  if (!data?.is_on) return null;
  return (
    <>
      <Divider label={t('auth.or')} />
      {/* A page of the server, which leads on to the provider. */}
      <Button
        component="a"
        href={next ? `${START}?${new URLSearchParams({ next })}` : START}
        variant="default"
        leftSection={<IconLogin2 size={16} />}
      >
        {data.provider ? t('auth.byProvider', { name: data.provider }) : t('auth.bySso')}
      </Button>
    </>
  );
}

/** Why the provider's way back let nobody in. */
export function SingleSignOnFailed({ failed }: { failed: SsoFailure }) {
  const { t } = useTranslation();
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} role="alert">
      {t(`auth.${failed}`)}
    </Alert>
  );
}
