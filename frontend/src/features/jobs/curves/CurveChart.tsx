import { Loader } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Metric, MetricSeries } from '@/api/contract/jobs';
import { curveColor, curveDash } from '@/shared/charts/colors';
import type { CurveLine } from '@/shared/charts/curveLine';
import { LineChart } from '@/shared/charts/LineChart';
import { Series } from '@/shared/charts/series';
import type { YAxis } from '@/shared/charts/uplot';
import { numbersOf } from '@/shared/domain/metricValue';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { smooth } from './smoothing';
import { useSeries } from './source';

export interface CurveChartProps {
  runId: string;
  title: string;
  metrics: Metric[];
  smoothing?: number;
  logY?: boolean;
  yAxis?: YAxis;
  /** x is seconds since the first point instead of steps. */
  byTime?: boolean;
  zoom?: [number, number] | null;
  onZoom?: (zoom: [number, number] | null) => void;
  formatY?: (value: number) => string;
  labelOf?: (key: string) => string;
  syncKey?: string;
}

function linesOf(data: MetricSeries[], { smoothing = 0, byTime, labelOf }: CurveChartProps): CurveLine[] {
  const start = Math.min(...data.map((one) => one.ts[0] ?? Number.POSITIVE_INFINITY));
  return data.flatMap((one, index): CurveLine[] => {
    const xs = byTime ? one.ts.map((ts) => (ts - start) / 1000) : one.steps;
    const label = labelOf?.(one.key) ?? one.key;
    const values = numbersOf(one.values);
    const look = { color: curveColor(index), dash: curveDash(index), label };
    const raw = Series.from(xs, values);
    if (smoothing === 0) return [{ ...look, id: one.key, series: raw }];
    const smoothed = Series.from(xs, smooth(values, smoothing));
    return [
      { ...look, id: `${one.key}/raw`, series: raw, faded: true },
      { ...look, id: one.key, series: smoothed },
    ];
  });
}

/** One chart of a run: at most 2,000 points a curve, read again for a zoomed range and when points were added. */
export function CurveChart(props: CurveChartProps) {
  const { runId, title, metrics, logY, yAxis, byTime = false, zoom, onZoom, formatY, syncKey = runId } = props;
  const { t } = useTranslation();
  const format = useFormat();
  const keys = useMemo(() => metrics.map((metric) => metric.key), [metrics]);
  const count = metrics.reduce((sum, metric) => sum + metric.n, 0);
  const series = useSeries(runId, keys, byTime ? null : (zoom ?? null), count);
  const { smoothing, labelOf } = props;
  const lines = useMemo(
    () => linesOf(series.data ?? [], { smoothing, byTime, labelOf } as CurveChartProps),
    [series.data, smoothing, byTime, labelOf],
  );
  if (series.error && !series.data)
    return <ErrorState compact error={series.error} onRetry={() => void series.refetch()} />;
  return (
    <LineChart
      title={title}
      lines={lines}
      revision={series.dataUpdatedAt}
      logY={logY}
      yAxis={yAxis}
      xLabel={byTime ? t('jobs.curves.byTime') : t('jobs.curves.byStep')}
      formatX={byTime ? format.duration : undefined}
      formatY={formatY}
      syncKey={`${syncKey}/${byTime ? 'time' : 'step'}`}
      zoom={zoom}
      onZoom={onZoom}
    >
      {series.isPending && <Loader size={14} />}
    </LineChart>
  );
}
