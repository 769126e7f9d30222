import { Card, Group, Select, SimpleGrid, Skeleton, Switch, Text } from '@mantine/core';
import { IconChartLine } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Metric } from '@/api/contract/jobs';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useStored } from '@/shared/ui/stored';
import { CurveChart } from './CurveChart';
import { groupCurves } from './groups';
import { SmoothingSlider } from './SmoothingSlider';
import { useMetrics } from './source';

export interface CurvesProps {
  /** The run's, or that of the source it is read from. */
  id: string;
  active: boolean;
  zoom: [number, number] | null;
  onZoom: (zoom: [number, number] | null) => void;
}

/** The metrics of the run, one chart for each measured thing. */
export function Curves({ id, active, zoom, onZoom }: CurvesProps) {
  const { t } = useTranslation();
  const metrics = useMetrics(id, active);
  const [smoothing, setSmoothing] = useStored('atom-smoothing', '0');
  const [logY, setLogY] = useState(false);
  const [xAxis, setXAxis] = useStored('atom-curve-x', 'step');
  const user = useMemo(() => (metrics.data ?? []).filter((metric) => metric.kind === 'user'), [metrics.data]);
  const byKey = new Map<string, Metric>(user.map((metric) => [metric.key, metric]));
  const groups = groupCurves(user.map((metric) => metric.key));

  if (metrics.error && !metrics.data)
    return <ErrorState error={metrics.error} onRetry={() => void metrics.refetch()} />;
  if (!metrics.data) return <Skeleton height={240} radius="md" />;
  if (user.length === 0)
    return active ? (
      <EmptyState icon={IconChartLine} title={t('jobs.curves.none')} />
    ) : (
      <EmptyState icon={IconChartLine} title={t('sharing.page.noCurves')} />
    );
  return (
    <>
      <Group gap="lg" mb="sm" data-no-print>
        <SmoothingSlider w={140} value={Number(smoothing)} onChange={(value) => setSmoothing(String(value))} />
        <Select
          size="xs"
          w={130}
          aria-label={t('jobs.curves.xAxis')}
          allowDeselect={false}
          value={xAxis}
          onChange={(value) => {
            setXAxis(value ?? 'step');
            onZoom(null);
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
              runId={id}
              title={group.name}
              metrics={group.keys.map((key) => byKey.get(key) as Metric)}
              smoothing={Number(smoothing)}
              logY={logY}
              byTime={xAxis === 'time'}
              zoom={zoom}
              onZoom={onZoom}
            />
          </Card>
        ))}
      </SimpleGrid>
    </>
  );
}
