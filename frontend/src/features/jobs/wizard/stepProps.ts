import type { Workflow } from '@/api/contract/jobs';
import type { Draft, DraftAction } from './draft';

export interface StepProps {
  draft: Draft;
  dispatch: (action: DraftAction) => void;
  errors: Record<string, string>;
  workflow: Workflow | undefined;
}
