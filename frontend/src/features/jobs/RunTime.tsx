import { useMemo } from 'react';
import { useNow } from '@/shared/ui/RelativeTime';
import { Duration } from '@/shared/ui/values';
import { isActive, isWaiting } from './states';

/** How long a run's attempts have run, without the pauses between them; counts on while one runs. */
export function RunTime({ run }: { run: { state: string; duration_s: number | null } }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new figure of the server starts the count anew.
  const answeredAt = useMemo(() => Date.now(), [run.duration_s]);
  const counts = run.duration_s !== null && isActive(run) && !isWaiting(run);
  const now = useNow(counts);
  if (now === null) return <Duration seconds={run.duration_s} />;
  return <Duration seconds={(run.duration_s ?? 0) + Math.max(0, now - answeredAt) / 1000} />;
}
