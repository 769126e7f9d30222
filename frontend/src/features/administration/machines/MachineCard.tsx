import { Alert, Badge, Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Machine } from '@/api/schema';
import { useRights } from '@/shared/domain/project';
import { useFormat } from '@/shared/ui/format';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { notifyError } from '@/shared/ui/undo';
import { CordonDialog } from './CordonDialog';
import { Gpus } from './Gpus';
import { MachineRuns } from './MachineRuns';
import { useCordon } from './queries';

const COLORS: Record<Machine['state'], string> = { ready: 'teal', cordoned: 'orange', silent: 'red' };

/** One machine: its state, what it has, what is free, and who is on it. */
export function MachineCard({ machine }: { machine: Machine }) {
  const { t } = useTranslation();
  const { installation } = useRights();
  const { name, state, since, cordon } = machine;
  return (
    <Card component="section" aria-labelledby={`machine-${machine.id}`}>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start">
          <div>
            <Group gap="xs">
              <Title order={2} size="h4" id={`machine-${machine.id}`} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Title>
              <Badge color={COLORS[state]} variant="light">
                {t(`machines.state.${state}`)}
              </Badge>
            </Group>
            <Text size="xs" c="dimmed" component="div">
              {t('machines.cluster', { name: machine.cluster })}
              {since && (
                <>
                  {' · '}
                  {t(`machines.state.${state}`)} <RelativeTime at={since} />
                </>
              )}
              {machine.heartbeat_at && (
                <>
                  {' · '}
                  {t('machines.lastSign')} <RelativeTime at={machine.heartbeat_at} />
                </>
              )}
            </Text>
          </div>
          {installation && <CordonButton machine={machine} />}
        </Group>
        {cordon?.by && (
          <Alert color="orange" py="xs" title={t('machines.cordonedBecause', { reason: cordon.reason })}>
            {t('machines.cordonedBy', { name: cordon.by })}
          </Alert>
        )}
        {cordon?.by === '' && (
          <Alert color="orange" py="xs">
            {t('machines.cordonedByCluster')}
          </Alert>
        )}
        <Slots machine={machine} />
        <Gpus machine={machine} />
        <MachineRuns machine={machine} />
      </Stack>
    </Card>
  );
}

function CordonButton({ machine }: { machine: Machine }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState(false);
  const { uncordon, isPending } = useCordon();
  const { id, name, cordon } = machine;
  if (cordon?.by === '') return null;
  if (cordon)
    return (
      <Button
        size="xs"
        variant="default"
        loading={isPending}
        leftSection={<IconPlayerPlay size={14} />}
        aria-label={t('machines.uncordonOf', { name })}
        onClick={() => void uncordon(id).catch(notifyError)}
      >
        {t('machines.uncordon')}
      </Button>
    );
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlayerPause size={14} />}
        aria-label={t('machines.cordonOf', { name })}
        onClick={() => setAsking(true)}
      >
        {t('machines.cordon')}
      </Button>
      <CordonDialog machine={machine} opened={asking} onClose={() => setAsking(false)} />
    </>
  );
}

function Slots({ machine }: { machine: Machine }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { used, cpus, memory_bytes: memory, disk_total_bytes: disk, disk_free_bytes: free } = machine;
  const count = (value: number) => format.number(value);
  const bytes = (value: number) => format.bytes(value);
  const rows = [
    { key: 'cpus' as const, used: used.cpus, total: cpus, write: count },
    { key: 'memory' as const, used: used.memory_bytes, total: memory, write: bytes },
    ...(machine.gpus.length > 0
      ? [{ key: 'gpus' as const, used: used.gpus, total: machine.gpus.length, write: count }]
      : []),
    ...(disk > 0 ? [{ key: 'disk' as const, used: disk - free, total: disk, write: bytes }] : []),
  ];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      {rows.map(({ key, used: taken, total, write }) => (
        <div key={key}>
          <Text size="sm" fw={550}>
            {t(`machines.${key}`)}
          </Text>
          <ProgressBar ratio={total === 0 ? 0 : taken / total} label={t(`machines.${key}`)} />
          <Text size="xs" c="dimmed" className="tabular">
            {key === 'disk'
              ? t('machines.diskUsed', { used: write(taken), total: write(total), free: write(free) })
              : t('machines.used', { used: write(taken), total: write(total) })}
          </Text>
        </div>
      ))}
      <div>
        <Text size="sm" fw={550}>
          {t('machines.cache')}
        </Text>
        <Text size="xs" c="dimmed" className="tabular">
          {machine.cached_versions > 0
            ? t('machines.cacheOf', { count: machine.cached_versions, bytes: bytes(machine.cache_bytes) })
            : t('machines.cacheEmpty')}
        </Text>
      </div>
    </SimpleGrid>
  );
}
