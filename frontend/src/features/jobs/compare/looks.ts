import { CURVE_COLORS, curveColor, curveDash } from '@/shared/charts/colors';

export interface Look {
  color: string;
  dash?: number[];
}

/**
 * The colour and dash of each run, by its number and not by its place: a run keeps its look when others come and go,
 * and after a reload. Where two want one colour the later takes the next free one; from the eleventh on, dashes tell.
 */
export function looksOf(numbers: readonly number[]): Map<number, Look> {
  const size = CURVE_COLORS.length;
  const taken = new Set<number>();
  const looks = new Map<number, Look>();
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const round = Math.floor(taken.size / size) * size;
    let slot = round + (number % size);
    while (taken.has(slot)) slot = round + ((slot + 1) % size);
    taken.add(slot);
    looks.set(number, { color: curveColor(slot), dash: curveDash(slot) });
  }
  return looks;
}

export const labelOf = (run: { number: number; name: string }): string => `#${run.number} ${run.name}`.trim();
