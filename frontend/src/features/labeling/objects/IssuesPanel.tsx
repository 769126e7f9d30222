import { Divider, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LeasedSlot } from '@/api/contract/labeling';
import type { ErrorCode } from '../audit/audit';
import { ERROR_CODES } from '../audit/audit';
import type { Editing } from './editing';

const isKnown = (code: string | null): code is ErrorCode => ERROR_CODES.some((one) => one === code);

/** Why the picture was sent back. */
export function IssuesPanel({ slot }: { slot: LeasedSlot; editing: Editing }) {
  const { t } = useTranslation();
  const code = slot.returned_code ?? null;
  const reasons = [isKnown(code) ? t(`labeling.audit.code.${code}`) : '', slot.returned_comment ?? ''].filter(Boolean);
  return (
    <section aria-label={t('labeling.objects.issues')} data-issues tabIndex={-1}>
      <Text size="sm" c="orange">
        {t('labeling.objects.returnedBecause', { why: reasons.join(' – ') })}
      </Text>
      <Divider my="sm" />
    </section>
  );
}
