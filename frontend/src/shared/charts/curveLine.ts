import type { Series } from './series';

export interface CurveLine {
  id: string;
  label: string;
  color: string;
  dash?: number[];
  /** Drawn pale, without a legend entry: the raw curve behind a smoothed one. */
  faded?: boolean;
  series: Series;
}
