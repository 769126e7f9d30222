import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { Replica } from '@/api/contract/datasets';
import { problemSentence } from '@/shared/domain/problemWords';
import { Dialog } from '@/shared/ui/Dialog';
import { useFormat } from '@/shared/ui/format';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import type { VersionAddress } from '../queries';
import { usePrice } from './prices';
import { isOpen, useReplicaActions } from './queries';

const DAYS = 30;
const DAY_MS = 86_400_000;

interface ReplicaCardProps {
  replica: Replica;
  address: VersionAddress;
  mayChange: boolean;
}

/** A replica: its state, its price, its end, and what can be done with it. */
export function ReplicaCard({ replica, address, mayChange }: ReplicaCardProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const price = usePrice();
  const { id, store, state, error, bytes_total: total } = replica;
  // Both halves of the work: bytes are copied, then read back.
  const ratio = total > 0 ? (replica.bytes_copied + replica.bytes_verified) / (2 * total) : 0;
  return (
    <Card component="section" aria-labelledby={`replica-${id}`} p="sm" withBorder>
      <Stack gap={6}>
        <Group justify="space-between" gap="xs">
          <Title order={3} size="h5" id={`replica-${id}`} style={{ overflowWrap: 'anywhere' }}>
            {store}
          </Title>
          <StateBadge state={state} size="sm" />
        </Group>
        {isOpen(replica) && <ProgressBar ratio={ratio} label={t('replicas.progressOf', { store })} />}
        <Text size="xs" c="dimmed" aria-live="polite" className="tabular">
          {t('replicas.progress', {
            copied: format.bytes(replica.bytes_copied),
            verified: format.bytes(replica.bytes_verified),
            total: format.bytes(total),
          })}
        </Text>
        <Times replica={replica} />
        <Text size="xs" c="dimmed">
          {t('replicas.paid', {
            once: price(replica.cost, replica.currency),
            month: price(replica.cost_per_month, replica.currency),
          })}
        </Text>
        {error && (
          <Text size="xs" role="status" c={state === 'failed' ? 'var(--mantine-color-error)' : undefined}>
            {problemSentence(error)}
          </Text>
        )}
        {mayChange && state !== 'removing' && <Actions replica={replica} address={address} />}
      </Stack>
    </Card>
  );
}

function Times({ replica }: { replica: Replica }) {
  const { t } = useTranslation();
  const { state, pinned, ends_at, verified_at, removes_at, retry_at } = replica;
  const lines = [
    verified_at && { word: t('replicas.verifiedAt'), at: verified_at },
    state !== 'removing' && ends_at && { word: t('replicas.endsAt'), at: ends_at },
    state === 'removing' && removes_at && { word: t('replicas.goneAt'), at: removes_at },
    state === 'waiting' && retry_at && { word: t('replicas.retryAt'), at: retry_at },
  ].filter((line) => line !== false && line !== null && line !== undefined && line !== '');
  return (
    <Text size="xs" c="dimmed" component="div">
      {pinned && state !== 'removing' && <div>{t('replicas.pinned')}</div>}
      {lines.map(({ word, at }) => (
        <div key={word}>
          {word} <RelativeTime at={at} />
        </div>
      ))}
    </Text>
  );
}

function Actions({ replica, address }: Omit<ReplicaCardProps, 'mayChange'>) {
  const { t } = useTranslation();
  const { store, pinned, state, dataset } = replica;
  const { pin, keepUntil, remove } = useReplicaActions(dataset, address.ref);
  const [removing, ask] = useDisclosure();
  const run = (action: Promise<unknown>, done: string) => void action.then(() => notifySuccess(done), notifyError);
  const extend = () => keepUntil(store, new Date(Date.now() + DAYS * DAY_MS).toISOString());
  const leave = () => {
    ask.close();
    run(remove(store), t('replicas.removing', { store }));
  };
  return (
    <Group gap="xs">
      {!pinned && (
        <Button
          size="xs"
          variant="default"
          aria-label={t('replicas.pinIn', { store })}
          onClick={() => run(pin(store), t('replicas.pinnedNow', { store }))}
        >
          {t('replicas.pinIt')}
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        aria-label={t('replicas.extendIn', { store })}
        onClick={() => run(extend(), t('replicas.extended', { store }))}
      >
        {t('replicas.extend')}
      </Button>
      <Button
        size="xs"
        variant="default"
        color="red"
        aria-label={t(isOpen(replica) ? 'replicas.cancelIn' : 'replicas.removeIn', { store })}
        onClick={state === 'there' ? ask.open : leave}
      >
        {t(isOpen(replica) ? 'replicas.cancel' : 'replicas.remove')}
      </Button>
      <Dialog opened={removing} onClose={ask.close} size="sm" title={t('replicas.removeTitle', { store })}>
        <Stack>
          <Text size="sm">{t('replicas.removeText', { store })}</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={ask.close}>
              {t('common.cancel')}
            </Button>
            <Button color="red" onClick={leave} data-autofocus>
              {t('replicas.remove')}
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </Group>
  );
}
