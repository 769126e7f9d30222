import 'uplot/dist/uPlot.min.css';
import uPlot from 'uplot';
import type { CurveLine } from './LineChart';

export interface PlotTheme {
  grid: string;
  text: string;
}

export const plotTheme = (dark: boolean): PlotTheme =>
  dark ? { grid: '#262a38', text: '#9a9eb0' } : { grid: '#eceef3', text: '#5c6370' };

const FONT = "11px 'Inter Variable', system-ui, sans-serif";

export interface PlotInit {
  width: number;
  height: number;
  lines: CurveLine[];
  theme: PlotTheme;
  logY: boolean;
  syncKey?: string;
  formatX: (value: number) => string;
  formatY: (value: number) => string;
  onZoom: (from: number, to: number) => void;
  onReset: () => void;
  onCursor: (index: number | null) => void;
}

function axis(theme: PlotTheme, format: (value: number) => string, size?: number): uPlot.Axis {
  const grid = { stroke: theme.grid, width: 1 };
  return {
    stroke: theme.text,
    grid,
    ticks: grid,
    font: FONT,
    size,
    values: (_plot, splits) => splits.map((value) => (value === null ? '' : format(value))),
  };
}

/** Builds the plot; the caller feeds it with `setData` and destroys it. */
export function createPlot(host: HTMLElement, init: PlotInit): uPlot {
  const { lines, theme, logY, syncKey } = init;
  const options: uPlot.Options = {
    width: init.width,
    height: init.height,
    series: [
      {},
      ...lines.map(({ label, color, dash, faded }) => ({
        label,
        stroke: color,
        dash,
        alpha: faded ? 0.25 : 1,
        width: 1.3,
        spanGaps: true,
        points: { show: false },
      })),
    ],
    scales: { x: { time: false }, y: logY ? { distr: 3 } : {} },
    axes: [axis(theme, init.formatX), axis(theme, init.formatY, 60)],
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
      setCursor: [(plot) => init.onCursor(plot.cursor.idx ?? null)],
    },
  };
  const plot = new uPlot(options, [[], ...lines.map(() => [])], host);
  plot.over.addEventListener('dblclick', init.onReset);
  return plot;
}
