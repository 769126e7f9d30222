import { Card, Group, Select, SimpleGrid, Skeleton, Slider, Switch, Text } from '@mantine/core';
import { IconChartLine } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Metric, Run } from '@/api/contract/jobs';
import { EmptyState } from '@/shared/EmptyState';
import { ErrorState } from '@/shared/ErrorState';
import { useStored } from '@/shared/stored';
import { useMetrics } from '../queries';
import type { runSearch } from '../search';
import { isActive } from '../states';
import { CurveChart } from './CurveChart';
import { groupCurves } from './groups';

export function CurvesTab({ run }: { run: Run }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ReturnType<typeof runSearch>;
  const metrics = useMetrics(run.id, isActive(run));
  const [smoothing, setSmoothing] = useStored('atom-smoothing', '0');
  const [logY, setLogY] = useState(false);
  const [xAxis, setXAxis] = useStored('atom-curve-x', 'step');
  const user = useMemo(() => (metrics.data ?? []).filter((metric) => metric.kind === 'user'), [metrics.data]);
  const byKey = new Map<string, Metric>(user.map((metric) => [metric.key, metric]));
  const groups = groupCurves(user.map((metric) => metric.key));
  const zoom: [number, number] | null =
    search.from !== undefined && search.to !== undefined ? [search.from, search.to] : null;
  const setZoom = (next: [number, number] | null) =>
    void navigate({ to: '.', search: (old) => ({ ...old, from: next?.[0], to: next?.[1] }), replace: true });

  if (metrics.error && !metrics.data)
    return <ErrorState error={metrics.error} onRetry={() => void metrics.refetch()} />;
  if (!metrics.data) return <Skeleton height={240} radius="md" />;
  if (user.length === 0)
    return <EmptyState icon={IconChartLine} title={t('jobs.curves.none')} hint={t('jobs.curves.noneHint')} />;
  return (
    <>
      <Group gap="lg" mb="sm">
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" fw={600} id="smoothing">
            {t('jobs.curves.smoothing')}
          </Text>
          <Slider
            w={140}
            size="sm"
            min={0}
            max={0.99}
            step={0.01}
            label={(value) => value.toFixed(2)}
            value={Number(smoothing)}
            onChange={(value) => setSmoothing(String(value))}
            thumbProps={{ 'aria-labelledby': 'smoothing' }}
          />
        </Group>
        <Select
          size="xs"
          w={130}
          aria-label={t('jobs.curves.xAxis')}
          allowDeselect={false}
          value={xAxis}
          onChange={(value) => {
            setXAxis(value ?? 'step');
            setZoom(null);
          }}
          data={[
            { value: 'step', label: t('jobs.curves.byStep') },
            { value: 'time', label: t('jobs.curves.byTime') },
          ]}
        />
        <Switch
          size="xs"
          label={t('jobs.curves.logScale')}
          checked={logY}
          onChange={(event) => setLogY(event.currentTarget.checked)}
        />
        <Text size="xs" c="dimmed">
          {t('jobs.curves.hint')}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, md: groups.length > 1 ? 2 : 1 }}>
        {groups.map((group) => (
          <Card key={group.name} padding="sm">
            <CurveChart
              runId={run.id}
              title={group.name}
              metrics={group.keys.map((key) => byKey.get(key) as Metric)}
              smoothing={Number(smoothing)}
              logY={logY}
              byTime={xAxis === 'time'}
              zoom={zoom}
              onZoom={setZoom}
            />
          </Card>
        ))}
      </SimpleGrid>
    </>
  );
}
