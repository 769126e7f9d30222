import { ActionIcon, Group, Text, Tooltip, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconChartLine, IconTable, IconZoomReset } from '@tabler/icons-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { useFormat } from '../ui/format';
import { ChartTable } from './ChartTable';
import type { CurveLine } from './curveLine';
import classes from './LineChart.module.css';
import { type Aligned, align, extent } from './series';
import { createPlot, plotTheme, type YAxis } from './uplot';

export interface LineChartProps {
  title: string;
  lines: CurveLine[];
  /** Change it when points were pushed into a series: the chart redraws in the next frame. */
  revision?: number;
  height?: number;
  xLabel?: string;
  formatX?: (value: number) => string;
  formatY?: (value: number) => string;
  logY?: boolean;
  yAxis?: YAxis;
  /** Charts with the same key share their cursor. */
  syncKey?: string;
  /** The visible range of x; null shows everything. Keep it in the URL. */
  zoom?: [number, number] | null;
  onZoom?: (zoom: [number, number] | null) => void;
  /** Controls beside the title. */
  children?: ReactNode;
}

const PLAIN: YAxis = {};

export function LineChart(props: LineChartProps) {
  const { title, lines, revision = 0, height = 220, logY = false, yAxis = PLAIN, syncKey } = props;
  const { t } = useTranslation();
  const format = useFormat();
  const formatX = props.formatX ?? format.compact;
  const formatY = props.formatY ?? format.metric;
  const dark = useComputedColorScheme('light') === 'dark';
  const { ref: sizeRef, width } = useElementSize();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [asTable, setAsTable] = useState(false);
  const [ownZoom, setOwnZoom] = useState<[number, number] | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const zoom = props.zoom === undefined ? ownZoom : props.zoom;
  const setZoom = props.onZoom ?? setOwnZoom;

  const series = useMemo(() => lines.map((line) => line.series), [lines]);
  const whole = extent(series);
  const [from, to] = zoom ?? whole ?? [0, 1];
  // biome-ignore lint/correctness/useExhaustiveDependencies: series grow in place, `revision` says so
  const data = useMemo<Aligned>(
    () => align(series, from, to, Math.max(100, width)),
    [series, from, to, width, revision],
  );

  const handlers = useRef({ setZoom, formatX, formatY });
  handlers.current = { setZoom, formatX, formatY };
  // The plot is rebuilt when its looks change, not when points come.
  const looks = lines.map(({ id, label, color, dash, faded }) => [id, label, color, dash, faded].join('|')).join(';');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `looks` stands for the lines
  useEffect(() => {
    if (!host.current || !width || asTable) return;
    const current = createPlot(host.current, {
      width,
      height,
      lines,
      theme: plotTheme(dark),
      logY,
      yAxis,
      syncKey,
      formatX: (value) => handlers.current.formatX(value),
      formatY: (value) => handlers.current.formatY(value),
      onZoom: (low, high) => handlers.current.setZoom([low, high]),
      onReset: () => handlers.current.setZoom(null),
      onCursor: setCursor,
    });
    plot.current = current;
    return () => {
      plot.current = null;
      current.destroy();
    };
  }, [looks, width, height, dark, logY, yAxis, syncKey, asTable]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a rebuilt plot needs its data again
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      plot.current?.setData(data as uPlot.AlignedData, false);
      plot.current?.setScale('x', { min: from, max: to > from ? to : from + 1 });
      // Only makes room for the labels again: to draw all anew, once more, is what setting the scale does.
      plot.current?.redraw(false, true);
    });
    return () => cancelAnimationFrame(frame);
  }, [data, from, to, looks, width, height, dark, logY, asTable]);

  const named = lines.filter((line) => !line.faded);
  const isEmpty = series.every((one) => one.length === 0);
  const undrawn = named.reduce((sum, line) => sum + line.series.undrawn.length, 0);
  return (
    <figure style={{ margin: 0 }} aria-label={title}>
      <Group justify="space-between" wrap="nowrap" mb={4}>
        <Text fw={600} size="sm" truncate component="figcaption">
          {title}
        </Text>
        <Group gap={2} wrap="nowrap">
          {props.children}
          {zoom && (
            <Tooltip label={t('chart.resetZoom')}>
              <ActionIcon size="sm" color="gray" aria-label={t('chart.resetZoom')} onClick={() => setZoom(null)}>
                <IconZoomReset size={15} />
              </ActionIcon>
            </Tooltip>
          )}
          <Tooltip label={asTable ? t('chart.showChart') : t('chart.showTable')}>
            <ActionIcon
              size="sm"
              color="gray"
              aria-label={asTable ? t('chart.showChart') : t('chart.showTable')}
              aria-pressed={asTable}
              onClick={() => setAsTable(!asTable)}
            >
              {asTable ? <IconChartLine size={15} /> : <IconTable size={15} />}
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      <div ref={sizeRef} className={classes.chart} style={{ minHeight: height }}>
        {asTable ? (
          <ChartTable title={title} lines={named} from={from} to={to} xLabel={props.xLabel} height={height} />
        ) : (
          <div ref={host} role="img" aria-label={t('chart.summary', { title, count: named.length })} />
        )}
        {isEmpty && !asTable && <div className={classes.empty}>{t(whole ? 'chart.noneFinite' : 'chart.noData')}</div>}
      </div>
      {!asTable && <Legend lines={named} all={lines} data={data} cursor={cursor} formatX={formatX} formatY={formatY} />}
      {undrawn > 0 && (
        <Text size="xs" c="dimmed">
          {t('chart.undrawn', { count: undrawn })}
        </Text>
      )}
    </figure>
  );
}

interface LegendProps {
  lines: CurveLine[];
  all: CurveLine[];
  data: Aligned;
  cursor: number | null;
  formatX: (value: number) => string;
  formatY: (value: number) => string;
}

/** Names the curves, with their values under the cursor, else their last ones. */
function Legend({ lines, all, data, cursor, formatX, formatY }: LegendProps) {
  const at = cursor !== null ? data[0][cursor] : undefined;
  const shownValue = (line: CurveLine): number | null => {
    const { series } = line;
    if (at === undefined || cursor === null || series.length === 0) return series.lastY;
    const exact = data[all.indexOf(line) + 1]?.[cursor] ?? series.at(at);
    return exact ?? series.y(Math.max(0, Math.min(series.length - 1, series.indexOf(at))));
  };
  return (
    <div className={classes.legend}>
      {lines.map((line) => {
        const value = shownValue(line);
        return (
          <span key={line.id} className={classes.item}>
            <svg width="16" height="4" aria-hidden>
              <line
                x1="0"
                x2="16"
                y1="2"
                y2="2"
                stroke={line.color}
                strokeWidth="3"
                strokeDasharray={line.dash?.join(' ')}
              />
            </svg>
            {line.label}
            {value !== null && (
              <span className={classes.value}>{Number.isFinite(value) ? formatY(value) : String(value)}</span>
            )}
          </span>
        );
      })}
      {at !== undefined && <span className={classes.value}>@ {formatX(at)}</span>}
    </div>
  );
}
