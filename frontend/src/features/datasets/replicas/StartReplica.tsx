import { Button, Fieldset, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { notifySuccess } from '@/shared/ui/undo';
import type { VersionAddress } from '../queries';
import { usePrice } from './prices';
import { useReplicaActions, useReplicaPreview } from './queries';

const RATE = /^(?:\d{1,9}(?:\.\d{1,3})?)?$/;
const MEGABYTE = 1e6;
const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30, 90, 365];
const PIN = 'pin';

interface StartReplicaProps {
  name: string;
  address: VersionAddress;
  /** Names of stores that the version can be copied into. */
  stores: string[];
}

/** Chooses a store and an end, shows the price, and starts the copy. */
export function StartReplica({ name, address, stores }: StartReplicaProps) {
  const { t } = useTranslation();
  const [store, setStore] = useState(stores[0] ?? '');
  const [stay, setStay] = useState('30');
  const [rate, setRate] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const preview = useReplicaPreview(name, address.ref, store);
  const { start } = useReplicaActions(name, address.ref);
  const isRateRight = RATE.test(rate.trim()) && (rate.trim() === '' || Number(rate) >= 1);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    const end =
      stay === PIN ? { pinned: true } : { ends_at: new Date(Date.now() + Number(stay) * DAY_MS).toISOString() };
    const rate_bytes_s = rate.trim() ? Math.round(Number(rate) * MEGABYTE) : null;
    try {
      await start({ store, rate_bytes_s, ...end });
      notifySuccess(t('replicas.started', { name: `${name}@${address.ref}`, store }));
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Fieldset legend={t('replicas.start')} p="sm">
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="sm">
          <NativeSelect
            label={t('replicas.store')}
            data={stores}
            value={store}
            onChange={(event) => setStore(event.currentTarget.value)}
          />
          <NativeSelect
            label={t('replicas.stay')}
            data={[
              ...DAYS.map((count) => ({ value: String(count), label: t('replicas.days', { count }) })),
              { value: PIN, label: t('replicas.pin') },
            ]}
            value={stay}
            onChange={(event) => setStay(event.currentTarget.value)}
          />
          <TextInput
            label={t('replicas.rate')}
            description={t('replicas.rateHint')}
            inputMode="decimal"
            autoComplete="off"
            value={rate}
            error={isRateRight ? null : t('replicas.rateWrong')}
            onChange={(event) => setRate(event.currentTarget.value)}
          />
          <Preview preview={preview} />
          {error !== null && <ErrorState error={error} compact />}
          <Group justify="flex-end">
            <Button type="submit" loading={busy} disabled={!preview.data || !isRateRight}>
              {t('replicas.startDo')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Fieldset>
  );
}

function Preview({ preview }: { preview: ReturnType<typeof useReplicaPreview> }) {
  const { t } = useTranslation();
  const format = useFormat();
  const price = usePrice();
  const { data, error } = preview;
  if (error && !data) return <ErrorState error={error} compact onRetry={() => void preview.refetch()} />;
  if (!data)
    return (
      <Text size="sm" c="dimmed">
        {t('replicas.previewing')}
      </Text>
    );
  return (
    <div role="status">
      <Text size="sm">
        {t('replicas.preview', {
          bytes: format.bytes(data.bytes_to_copy),
          total: format.bytes(data.bytes_total),
          packs: data.packs_to_copy,
          count: data.packs_total,
        })}
      </Text>
      <Text size="sm">
        {t('replicas.price', {
          once: price(data.cost, data.currency),
          month: price(data.cost_per_month, data.currency),
        })}
      </Text>
    </div>
  );
}
