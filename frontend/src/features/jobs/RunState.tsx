import type { BadgeProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Attempt, RunShort } from '@/api/contract/jobs';
import { StateBadge } from '@/shared/ui/StateBadge';

interface RunStateProps extends Omit<BadgeProps, 'children' | 'color'> {
  run: Pick<RunShort | Attempt, 'state' | 'phase'>;
}

/** The state of a run or of an attempt; while a cluster starts it, how far that cluster is. */
export function RunState({ run, ...rest }: RunStateProps) {
  const { t } = useTranslation();
  if (!run.phase) return <StateBadge state={run.state} {...rest} />;
  return (
    <span title={t(`runs.answer.${answerOf(run.phase)}`)}>
      <StateBadge state={run.state} label={t(`runs.phase.${run.phase}`)} {...rest} />
    </span>
  );
}

const answerOf = (phase: NonNullable<RunShort['phase']>) =>
  phase === 'submitted' ? ('in_cluster' as const) : (`cluster_${phase}` as const);
