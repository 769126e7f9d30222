import { Skeleton, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import type { VersionAddress } from '../queries';
import { useReplicas, useStoreNames } from './queries';
import { ReplicaCard } from './ReplicaCard';
import { StartReplica } from './StartReplica';

/** The copies of a version in second stores, and a form that starts another. */
export default function ReplicasDialog({ name, address }: { name: string; address: VersionAddress }) {
  const { t } = useTranslation();
  const mayChange = useMay('researcher');
  const { data, error, refetch } = useReplicas(name, address.ref);
  const stores = useStoreNames();
  if (error && !data) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={180} aria-busy />;
  // A failed replica starts again by the same form.
  const taken = new Set(data.filter(({ state }) => state !== 'failed').map(({ store }) => store));
  const free = stores.data?.results.map((store) => store.name).filter((store) => !taken.has(store));
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t('replicas.hint')}
      </Text>
      {data.length === 0 && <Text size="sm">{t('replicas.empty')}</Text>}
      {data.map((replica) => (
        <ReplicaCard key={replica.id} replica={replica} address={address} mayChange={mayChange} />
      ))}
      {stores.error && <ErrorState error={stores.error} compact onRetry={() => void stores.refetch()} />}
      {stores.data?.results.length === 0 && <Text size="sm">{t('replicas.noStores')}</Text>}
      {mayChange && free && free.length > 0 && (
        <StartReplica key={free.join()} name={name} address={address} stores={free} />
      )}
    </Stack>
  );
}
