import { useReducer } from 'react';
import { curveColor } from '@/shared/charts/colors';
import { LineChart } from '@/shared/charts/LineChart';
import { Series } from '@/shared/charts/series';
import { Frames, restMs } from './frames';

const CURVES = 5;
const POINTS = 1_000_000;
const LIVE_MS = 4000;

const lossAt = (curve: number, step: number) => Math.exp(-step / 2e5) + curve / 10 + Math.sin(step / 997) / 20;

const lines = Array.from({ length: CURVES }, (_, curve) => {
  const series = new Series(POINTS + 1000);
  for (let step = 0; step < POINTS; step += 1) series.push(step, lossAt(curve, step));
  return { id: `loss/${curve}`, label: `loss/${curve}`, color: curveColor(curve), series };
});
let redraw = () => {};

export function Charts() {
  const [revision, draw] = useReducer((tick: number) => tick + 1, 0);
  redraw = draw;
  return <LineChart title="loss" lines={lines} revision={revision} height={400} />;
}

export const charts = {
  points: CURVES * POINTS,
  /** Gaps between frames while every curve gets a point in each of them. */
  async live(): Promise<number[]> {
    let step = POINTS;
    const frames = new Frames(() => {
      for (const [curve, { series }] of lines.entries()) series.push(step, lossAt(curve, step));
      step += 1;
      redraw();
    });
    await restMs(LIVE_MS);
    return frames.stop();
  },
};
