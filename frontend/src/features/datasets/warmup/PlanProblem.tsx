import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { WarmPlan } from '@/api/contract/datasets';
import { planProblem } from './problem';

interface PlanProblemProps {
  of: Pick<WarmPlan, 'error' | 'error_code' | 'error_params'>;
  isOver: boolean;
}

/** Why a plan or a node's part of it failed or waits, and the next step. */
export function PlanProblem({ of, isOver }: PlanProblemProps) {
  const { t } = useTranslation();
  const problem = planProblem(of, t);
  if (!problem) return null;
  return (
    <Alert
      color={isOver ? 'red' : 'orange'}
      variant="light"
      p="xs"
      icon={<IconAlertTriangle size={16} />}
      style={{ overflowWrap: 'anywhere' }}
    >
      {[problem.words, problem.next].filter(Boolean).join(' ')}
    </Alert>
  );
}
