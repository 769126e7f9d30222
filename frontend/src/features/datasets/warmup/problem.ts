import type { TFunction } from 'i18next';
import { sentenceOf } from '@/api/errors';
import { sayDetail } from '@/i18n';

interface Failing {
  error: string;
  error_code: string | null;
  error_params: Record<string, unknown> | null;
}

const NEXT = ['agent_silent', 'agent_disk_full', 'agent_read_only', 'agent_fetch_failed', 'plan_overdue'] as const;

/** The problem of a plan or of a node's part in the reader's language, with the next step where it is known. */
export function planProblem({ error, error_code, error_params }: Failing, t: TFunction) {
  if (!error) return null;
  const words = sayDetail(error, sentenceOf({ detail_code: error_code, detail_params: error_params }));
  const known = NEXT.find((name) => error_code === `cache.${name}`);
  return { words, next: known ? t(`warmup.next.${known}`) : '' };
}
