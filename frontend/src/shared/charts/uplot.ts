import 'uplot/dist/uPlot.min.css';
import uPlot from 'uplot';
import { type Columns, drawBand } from './band';
import type { CurveLine } from './curveLine';
import { drawMarks } from './marks';
import { areBuckets } from './series';

export interface PlotTheme {
  grid: string;
  text: string;
}

export const plotTheme = (dark: boolean): PlotTheme =>
  dark ? { grid: '#262a38', text: '#9a9eb0' } : { grid: '#eceef3', text: '#5c6370' };

const FONT = "11px 'Inter Variable', system-ui, sans-serif";

/**
 * The unit of y: bytes have their marks at powers of two, shares and amounts begin at zero. The axis goes up to
 * `atLeast`, however small the values are.
 */
export interface YAxis {
  bytes?: boolean;
  fromZero?: boolean;
  atLeast?: number;
}

export interface PlotInit {
  width: number;
  height: number;
  lines: CurveLine[];
  theme: PlotTheme;
  logY: boolean;
  yAxis: YAxis;
  syncKey?: string;
  formatX: (value: number) => string;
  formatY: (value: number) => string;
  onZoom: (from: number, to: number) => void;
  onReset: () => void;
  onCursor: (index: number | null) => void;
}

const POWERS_OF_TWO = Array.from({ length: 60 }, (_, exponent) => 2 ** exponent);
const CHARACTER_PX = 6.5;

function axis(theme: PlotTheme, format: (value: number) => string): uPlot.Axis {
  const grid = { stroke: theme.grid, width: 1 };
  return {
    stroke: theme.text,
    grid,
    ticks: grid,
    font: FONT,
    values: (_plot, splits) => splits.map((value) => (value === null ? '' : format(value))),
  };
}

/** As wide as its longest label; where rounding makes neighbours alike, only the first is written. */
function yAxis(theme: PlotTheme, format: (value: number) => string, { bytes }: YAxis): uPlot.Axis {
  const base = axis(theme, format);
  return {
    ...base,
    ...(bytes && { incrs: POWERS_OF_TWO }),
    size: (_plot, labels) => 20 + CHARACTER_PX * Math.max(3, ...(labels ?? []).map((label) => label?.length ?? 0)),
    values: (_plot, splits) => {
      const labels = splits.map((value) => (value === null ? '' : format(value)));
      return labels.map((label, index) => (label === labels[index - 1] ? '' : label));
    },
  };
}

/** The range of an axis that begins at zero; `max` is null without points. */
export const rangeFromZero = (max: number | null, atLeast = 0): [number, number] => [
  0,
  Math.max((max ?? 0) * 1.05, atLeast) || 1,
];

/** Whether a series has one value only, which no line shows. */
export function isAlone(values: Iterable<number | null | undefined>): boolean {
  let count = 0;
  for (const value of values) if (value != null && ++count > 1) return false;
  return count === 1;
}

/** The columns of a series of buckets, as far as it has points. */
function columnsOf(plot: uPlot, index: number, first: number, last: number): Columns {
  const columns: Columns = { x: [], top: [], bottom: [] };
  const xs = plot.data[0];
  const ys = plot.data[index] ?? [];
  for (let i = first - (first % 2); i <= last; i += 2) {
    const [low, high] = [ys[i], ys[i + 1]];
    if (low == null || high == null) continue;
    columns.x.push(plot.valToPos(xs[i + 1] as number, 'x', true));
    columns.top.push(plot.valToPos(high, 'y', true));
    columns.bottom.push(plot.valToPos(low, 'y', true));
  }
  return columns;
}

/** Buckets are drawn as a band, points as a line; so is a line of dashes, of which a band has none. */
function pathsOf({ color, dash }: CurveLine): uPlot.Series.PathBuilder | undefined {
  if (dash) return undefined;
  const line = uPlot.paths.linear?.();
  return (plot, index, first, last) => {
    const xs = plot.data[0];
    if (!areBuckets(xs)) return line?.(plot, index, first, last) ?? null;
    // The first one may be seen in part.
    const columnPx = plot.valToPos(xs[4] as number, 'x', true) - plot.valToPos(xs[2] as number, 'x', true);
    const [fill, stroke] = [new Path2D(), new Path2D()];
    const linePx = (plot.series[index]?.width ?? 1) * uPlot.pxRatio;
    drawBand(columnsOf(plot, index, first, last), columnPx, linePx, fill, stroke);
    return { stroke, fill: new Map([[color, fill]]), flags: 0 };
  };
}

/** Builds the plot; the caller feeds it with `setData` and destroys it. */
export function createPlot(host: HTMLElement, init: PlotInit): uPlot {
  const { lines, theme, logY, syncKey } = init;
  const range: uPlot.Range.Function = (_plot, _min, max) => rangeFromZero(max, init.yAxis.atLeast);
  const options: uPlot.Options = {
    width: init.width,
    height: init.height,
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: line.color,
        dash: line.dash,
        alpha: line.faded ? 0.25 : 1,
        width: 1.3,
        paths: pathsOf(line),
        // No point at an x of another curve is no gap; a point that cannot be drawn is one.
        gaps: (plot: uPlot) =>
          line.series
            .gaps()
            .map(([from, to]): [number, number] => [
              Math.round(plot.valToPos(from, 'x', true)),
              Math.round(plot.valToPos(to, 'x', true)),
            ]),
        points: { show: (plot: uPlot, index: number) => isAlone(plot.data[index] ?? []) },
      })),
    ],
    scales: { x: { time: false }, y: logY ? { distr: 3 } : init.yAxis.fromZero ? { range } : {} },
    axes: [axis(theme, init.formatX), yAxis(theme, init.formatY, init.yAxis)],
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false, setScale: false },
      focus: { prox: 24 },
      ...(syncKey ? { sync: { key: syncKey } } : {}),
    },
    focus: { alpha: 0.3 },
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, 'x');
          const to = plot.posToVal(plot.select.left + plot.select.width, 'x');
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          init.onZoom(from, to);
        },
      ],
      draw: [(plot) => drawMarks(plot, lines)],
      setCursor: [(plot) => init.onCursor(plot.cursor.idx ?? null)],
    },
  };
  const plot = new uPlot(options, [[], ...lines.map(() => [])], host);
  plot.over.addEventListener('dblclick', init.onReset);
  return plot;
}
