import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { IconServer2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Machine } from '@/api/schema';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { MetricCard } from '@/shared/ui/MetricCard';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { MachineCard } from './MachineCard';
import { useMachines } from './queries';

/** Every machine that can run jobs: its state, its slots, its disk, and the runs on it. */
export function MachinesPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useMachines();
  const machines = data?.results;
  return (
    <Page>
      <PageHeader title={t('machines.title')} subtitle={t('machines.subtitle')} />
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {machines?.length === 0 && <EmptyState icon={IconServer2} title={t('machines.none')} />}
      {machines && machines.length > 0 && (
        <Stack>
          <Totals machines={machines} />
          {machines.map((machine) => (
            <MachineCard key={machine.id} machine={machine} />
          ))}
        </Stack>
      )}
    </Page>
  );
}

/** Free slots of the machines that take runs, together. */
function Totals({ machines }: { machines: Machine[] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const ready = machines.filter(({ state }) => state === 'ready');
  const sum = (of: (machine: Machine) => number) => ready.reduce((total, machine) => total + of(machine), 0);
  const cards = [
    { label: t('machines.total', { count: machines.length }), free: ready.length, total: machines.length },
    { label: t('machines.freeCpus'), free: sum((one) => one.cpus - one.used.cpus), total: sum((one) => one.cpus) },
    {
      label: t('machines.freeMemory'),
      free: sum((one) => one.memory_bytes - one.used.memory_bytes),
      total: sum((one) => one.memory_bytes),
      bytes: true,
    },
    {
      label: t('machines.freeGpus'),
      free: sum((one) => one.gpus.length - one.used.gpus),
      total: sum((one) => one.gpus.length),
    },
  ];
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      {cards.map(({ label, free, total, bytes }, index) => (
        <MetricCard
          key={label}
          label={label}
          value={bytes ? format.bytes(free) : format.number(free)}
          hint={
            index === 0
              ? t('machines.ready')
              : t('machines.freeOf', {
                  free: bytes ? format.bytes(free) : format.number(free),
                  total: bytes ? format.bytes(total) : format.number(total),
                })
          }
        />
      ))}
    </SimpleGrid>
  );
}

const Loading = () => (
  <Stack aria-busy>
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      {['machines', 'cpus', 'memory', 'gpus'].map((key) => (
        <Skeleton key={key} height={110} />
      ))}
    </SimpleGrid>
    <Skeleton height={340} />
  </Stack>
);
