import { Alert } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SubmitResult } from '@/api/contract/labeling';
import type { ShownTable } from './shownTable';

const WORDS = { stale_lease: 'stale', lease_elsewhere: 'elsewhere', task_not_active: 'closed' } as const;
const wordsFor = ({ code }: SubmitResult) => WORDS[code as keyof typeof WORDS] ?? 'refused';

/** The fate of answers that the server did not count. */
export function Refused({ bench }: { bench: ShownTable }) {
  const { t } = useTranslation();
  if (bench.refused.length === 0) return null;
  const groups = new Map<ReturnType<typeof wordsFor>, number>();
  for (const result of bench.refused) groups.set(wordsFor(result), (groups.get(wordsFor(result)) ?? 0) + 1);
  return (
    <Alert
      color="orange"
      variant="light"
      mb="sm"
      role="status"
      withCloseButton
      closeButtonLabel={t('common.close')}
      onClose={() => bench.dismissRefused()}
    >
      {[...groups].map(([words, count]) => (
        <div key={words}>{t(`labeling.work.${words}`, { count })}</div>
      ))}
    </Alert>
  );
}

/** The faults of answers that came back to be mended. */
export function Refusals({ texts }: { texts: readonly string[] }) {
  const { t } = useTranslation();
  if (texts.length === 0) return null;
  return (
    <Alert color="red" variant="light" mb="sm" py={6} role="alert" title={t('labeling.objects.refusedTitle')}>
      {texts.map((text) => (
        <div key={text}>{text}</div>
      ))}
    </Alert>
  );
}
