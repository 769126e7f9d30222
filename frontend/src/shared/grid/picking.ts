/** Which cells of a long list are chosen: numbers in ascending runs `[start, end)` that do not touch. No React. */
export type Runs = readonly (readonly [number, number])[];

export const NONE: Runs = [];

export const countOf = (runs: Runs): number => runs.reduce((sum, [start, end]) => sum + end - start, 0);

export function has(runs: Runs, index: number): boolean {
  let low = 0;
  let high = runs.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [start, end] = runs[middle] as readonly [number, number];
    if (index < start) high = middle - 1;
    else if (index >= end) low = middle + 1;
    else return true;
  }
  return false;
}

/** Everything from one cell to another, both included, is chosen beside what is. */
export function withRun(runs: Runs, from: number, to: number): Runs {
  let start = Math.min(from, to);
  let end = Math.max(from, to) + 1;
  const before: (readonly [number, number])[] = [];
  const after: (readonly [number, number])[] = [];
  for (const run of runs) {
    if (run[1] < start) before.push(run);
    else if (run[0] > end) after.push(run);
    else {
      start = Math.min(start, run[0]);
      end = Math.max(end, run[1]);
    }
  }
  return [...before, [start, end], ...after];
}

export function toggled(runs: Runs, index: number): Runs {
  if (!has(runs, index)) return withRun(runs, index, index);
  return runs.flatMap((run): Runs => {
    if (index < run[0] || index >= run[1]) return [run];
    const parts: Runs = [
      [run[0], index],
      [index + 1, run[1]],
    ];
    return parts.filter(([start, end]) => start < end);
  });
}

export function* indices(runs: Runs): Generator<number> {
  for (const [start, end] of runs) for (let index = start; index < end; index++) yield index;
}
