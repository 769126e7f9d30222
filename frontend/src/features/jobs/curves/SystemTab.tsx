import { Card, SimpleGrid, Skeleton } from '@mantine/core';
import { IconCpu } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Metric, Run } from '@/api/contract/jobs';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { type Format, useFormat } from '@/shared/ui/format';
import { isActive } from '../states';
import { Advice } from './Advice';
import { CurveChart } from './CurveChart';
import { withoutRank } from './groups';
import { useMetrics } from './source';

/** `system/gpu0_percent` and `system/gpu1_percent` share a chart. */
const groupName = (key: string) =>
  withoutRank(key)
    .replace(/^system\//, '')
    .replace(/gpu\d+/, 'gpu');
const ORDER = ['cpu_percent', 'memory_bytes', 'data_wait_percent', 'data_batches', 'gpu_percent', 'gpu_memory_bytes'];
const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
const BYTES = { bytes: true, fromZero: true };
const AMOUNT = { fromZero: true };
// A machine that hardly waits has its curve near the bottom, not marks that all say 0 %.
const PERCENT = { fromZero: true, atLeast: 10 };
const axisOf = (name: string) => (name.includes('bytes') ? BYTES : name.endsWith('_percent') ? PERCENT : AMOUNT);

function formatOf(name: string, format: Format): (value: number) => string {
  if (name.endsWith('_percent')) return (value) => format.percent(value / 100);
  if (name.endsWith('_bytes_s')) return (value) => `${format.bytes(value)}/s`;
  if (name.includes('bytes')) return format.bytes;
  return format.metric;
}

export function SystemTab({ run }: { run: Run }) {
  const { t } = useTranslation();
  const format = useFormat();
  const metrics = useMetrics(run.id, isActive(run));
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  if (metrics.error && !metrics.data)
    return <ErrorState error={metrics.error} onRetry={() => void metrics.refetch()} />;
  if (!metrics.data) return <Skeleton height={240} radius="md" />;
  const groups = new Map<string, Metric[]>();
  for (const metric of metrics.data.filter(({ kind }) => kind === 'system')) {
    const name = groupName(metric.key);
    groups.set(name, [...(groups.get(name) ?? []), metric]);
  }
  if (groups.size === 0) return <EmptyState icon={IconCpu} title={t('jobs.system.none')} />;
  const names = [...groups.keys()].sort((a, b) => rank(a) - rank(b));
  const title = (name: string) => t(`jobs.system.${name}` as 'jobs.system.cpu_percent', { defaultValue: name });
  return (
    <>
      {!isActive(run) && <Advice runId={run.id} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {names.map((name) => (
          <Card key={name} padding="sm">
            <CurveChart
              runId={run.id}
              title={title(name)}
              metrics={groups.get(name) ?? []}
              byTime
              zoom={zoom}
              onZoom={setZoom}
              formatY={formatOf(name, format)}
              yAxis={axisOf(name)}
              labelOf={(key) => (groups.get(name)?.length === 1 ? title(name) : key.replace(/^system\//, ''))}
            />
          </Card>
        ))}
      </SimpleGrid>
    </>
  );
}
