import { Alert } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { IconCloudOff, IconHourglass } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';

export function OfflineBanner() {
  const { t } = useTranslation();
  const { online } = useNetwork();
  if (online !== false) return null;
  return (
    <Alert color="yellow" radius={0} py={6} icon={<IconCloudOff size={16} />} role="status">
      {t('shell.offline')}
    </Alert>
  );
}

/** Whether a question waits for a service that is starting again. */
function useIsWaitingForService(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (listener) => cache.subscribe(listener),
    () =>
      cache.getAll().some(({ state: { fetchStatus, fetchFailureReason: reason } }) => {
        return fetchStatus !== 'idle' && reason !== null && asApiError(reason).isTemporary;
      }),
  );
}

export function ServiceBanner() {
  const { t } = useTranslation();
  if (!useIsWaitingForService()) return null;
  return (
    <Alert color="yellow" radius={0} py={6} icon={<IconHourglass size={16} />} role="status">
      {t('errors.unavailableRetrying')}
    </Alert>
  );
}
