import { Button, Stack, Text } from '@mantine/core';
import { IconFlame } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useCache, useWarm, type VersionAddress } from '../queries';
import { NodeCoverage } from './NodeCoverage';

/** How much of a version this machine holds, with a button to fetch the rest. */
export function LocalCache({ name, address }: { name: string; address: VersionAddress }) {
  const { t } = useTranslation();
  const mayWarm = useMay('researcher');
  const cache = useCache(name, address.ref);
  const warm = useWarm(name, address.ref);
  // The server names this machine first, whether it holds anything or not.
  const own = cache.data?.[0];
  const start = () =>
    warm
      .warm()
      .then(() => notifySuccess(t('datasets.warmAsked', { name: `${name}@${address.ref}` })))
      .catch(notifyError);
  return (
    <Stack gap="sm" align="stretch">
      {cache.error && <ErrorState error={cache.error} compact onRetry={() => void cache.refetch()} />}
      {cache.data && !own && <Text size="sm">{t('datasets.cacheEmpty')}</Text>}
      {own && <NodeCoverage name={name} record={own} />}
      {mayWarm && (
        <Button
          variant="default"
          onClick={start}
          loading={warm.isPending}
          disabled={(own?.coverage ?? 0) >= 1}
          leftSection={<IconFlame size={15} />}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('datasets.warm')}
        </Button>
      )}
    </Stack>
  );
}
