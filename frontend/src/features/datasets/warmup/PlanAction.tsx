import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { WarmPlan } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { EndButton } from '@/shared/ui/EndButton';
import { confirmUndo } from '@/shared/ui/undo';
import { isRunning, useCancelPlan } from './queries';

/** Cancels a plan that runs, or releases the version that a plan keeps; both can be taken back for a moment. */
export function PlanAction({ plan, name }: { plan: WarmPlan; name: string }) {
  const { t } = useTranslation();
  const mayChange = useMay('researcher');
  const cancel = useCancelPlan();
  const [isEnding, setEnding] = useState(false);
  const running = isRunning(plan);
  const keeps = plan.state === 'done' && plan.pinned;
  if (!mayChange || isEnding || !(running || keeps)) return null;
  const end = () => {
    setEnding(true);
    confirmUndo({
      message: t(running ? 'warmup.cancelling' : 'warmup.releasing', { name }),
      commit: () => cancel(plan.id).finally(() => setEnding(false)),
      rollback: () => setEnding(false),
    });
  };
  return (
    <EndButton
      label={t(running ? 'warmup.cancel' : 'warmup.release')}
      name={t(running ? 'warmup.cancelOf' : 'warmup.releaseOf', { name })}
      onEnd={end}
    />
  );
}
