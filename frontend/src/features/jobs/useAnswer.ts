import { useTranslation } from 'react-i18next';
import type { Explanation } from '@/api/contract/jobs';

/** Why a run is, or is not, running, in one sentence; the server's English for a code that this portal does not know. */
export function useAnswer() {
  const { t } = useTranslation();
  return ({ code, answer }: Pick<Explanation, 'code' | 'answer'>) => t(`runs.answer.${code}`, { defaultValue: answer });
}
