import { Alert } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { IconCloudOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

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
