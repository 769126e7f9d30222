import type { ModelVersion } from '@/api/contract/models';

/** The accuracy that a version is known by: its newest evaluation's, else what its run measured. */
export function accuracyOf(version: ModelVersion | null): number | null {
  const evaluated = version?.evaluations?.[0]?.accuracy;
  if (evaluated !== undefined) return evaluated;
  const metrics = version?.metrics ?? {};
  const key = ['test/accuracy', 'accuracy', 'val/accuracy'].find((one) => metrics[one] !== undefined);
  return key === undefined ? null : (metrics[key] as number);
}
