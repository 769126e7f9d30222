import { Group, Loader, SegmentedControl, Select, Switch, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComparedCurve, ComparedRun } from '@/api/contract/jobs';
import type { CurveLine } from '@/shared/charts/curveLine';
import { LineChart } from '@/shared/charts/LineChart';
import { Series } from '@/shared/charts/series';
import { numbersOf } from '@/shared/domain/metricValue';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { SmoothingSlider } from '../curves/SmoothingSlider';
import { smooth } from '../curves/smoothing';
import { useComparedCurves } from '../queries';
import { type Look, labelOf } from './looks';
import type { CompareSearch, SetSearch } from './useCompareSearch';

interface CompareCurvesProps {
  names: string;
  runs: ComparedRun[];
  looks: Map<number, Look>;
  metric: string;
  keys: string[];
  search: CompareSearch;
  setSearch: SetSearch;
}

/** More pale curves than these hide the smoothed ones. */
const RAW_CURVES = 10;

interface Drawn {
  byTime: boolean;
  smoothing: number;
}

function linesOf(data: ComparedCurve[], runs: ComparedRun[], looks: Map<number, Look>, how: Drawn): CurveLine[] {
  const byId = new Map(data.map((one) => [one.run, one]));
  return runs.flatMap((run): CurveLine[] => {
    const curve = byId.get(run.id);
    if (!curve) return [];
    const start = curve.ts[0] ?? 0;
    const xs = how.byTime ? curve.ts.map((ts) => (ts - start) / 1000) : curve.steps;
    const values = numbersOf(curve.values);
    const look = { ...(looks.get(run.number) as Look), label: labelOf(run) };
    const raw = Series.from(xs, values);
    if (how.smoothing === 0) return [{ ...look, id: run.id, series: raw }];
    const smoothed = { ...look, id: run.id, series: Series.from(xs, smooth(values, how.smoothing)) };
    return runs.length > RAW_CURVES
      ? [smoothed]
      : [{ ...look, id: `${run.id}/raw`, series: raw, faded: true }, smoothed];
  });
}

/** One metric of all runs, one curve each. */
export function CompareCurves({ names, runs, looks, metric, keys, search, setSearch }: CompareCurvesProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const byTime = search.x === 'time';
  const smoothing = Math.min(0.99, Math.max(0, search.smooth ?? 0));
  const zoom: [number, number] | null =
    search.from !== undefined && search.to !== undefined ? [search.from, search.to] : null;
  const count = runs.reduce((sum, run) => sum + (run.metrics.find(({ key }) => key === metric)?.n ?? 0), 0);
  const curves = useComparedCurves(names, metric, byTime ? null : zoom, count);
  const lines = useMemo(
    () => linesOf(curves.data ?? [], runs, looks, { byTime, smoothing }),
    [curves.data, runs, looks, byTime, smoothing],
  );
  const without = runs.length - lines.filter(({ faded }) => !faded).length;
  return (
    <>
      <Group gap="lg" mb="sm" data-no-print>
        <Select
          size="xs"
          w={230}
          searchable
          aria-label={t('compare.metric')}
          allowDeselect={false}
          value={metric}
          onChange={(next) => setSearch({ metric: next ?? undefined, from: undefined, to: undefined })}
          data={keys}
        />
        <SmoothingSlider w={120} value={smoothing} onChange={(value) => setSearch({ smooth: value || undefined })} />
        <SegmentedControl
          size="xs"
          aria-label={t('jobs.curves.xAxis')}
          value={byTime ? 'time' : 'step'}
          onChange={(x) => setSearch({ x: x === 'time' ? 'time' : undefined, from: undefined, to: undefined })}
          data={[
            { value: 'step', label: t('jobs.curves.byStep') },
            { value: 'time', label: t('jobs.curves.byTime') },
          ]}
        />
        <Switch
          size="xs"
          label={t('jobs.curves.logScale')}
          checked={search.log ?? false}
          onChange={(event) => setSearch({ log: event.currentTarget.checked || undefined })}
        />
        <Text size="xs" c="dimmed">
          {t('jobs.curves.hint')}
        </Text>
      </Group>
      {curves.error && !curves.data ? (
        <ErrorState compact error={curves.error} onRetry={() => void curves.refetch()} />
      ) : (
        <LineChart
          title={metric}
          lines={lines}
          revision={curves.dataUpdatedAt}
          height={300}
          logY={search.log ?? false}
          xLabel={byTime ? t('jobs.curves.byTime') : t('jobs.curves.byStep')}
          formatX={byTime ? format.duration : undefined}
          zoom={zoom}
          onZoom={(next) => setSearch({ from: next?.[0], to: next?.[1] })}
        >
          {curves.isFetching && <Loader size={14} />}
        </LineChart>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {curves.data?.some(({ coarse }) => coarse) && `${t('compare.coarse')} `}
        {curves.data && without > 0 && t('compare.withoutMetric', { count: without })}
      </Text>
    </>
  );
}
