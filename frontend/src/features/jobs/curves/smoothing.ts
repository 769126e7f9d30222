/**
 * Exponential moving average with the start-up bias taken out (Adam, Kingma & Ba 2015, section 3; as in TensorBoard).
 * `weight` is 0 (as measured) to below 1. NaN and null stay where they are and do not count.
 */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values];
  let mean = 0;
  let seen = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return value;
    mean = mean * weight + (1 - weight) * value;
    seen++;
    return mean / (1 - weight ** seen);
  });
}
