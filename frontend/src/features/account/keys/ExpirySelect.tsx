import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const EXPIRY_DAYS = [7, 30, 90, 365];
const NEVER = 'never';
const DAY_MS = 86_400_000;

/** The moment after so many days, or null for never. */
export const expiresAt = (days: string, nowMs: number): string | null =>
  days === NEVER ? null : new Date(nowMs + Number(days) * DAY_MS).toISOString();

export function ExpirySelect(props: SelectProps) {
  const { t } = useTranslation();
  return (
    <Select
      label={t('settings.expiry')}
      description={'\u00a0'}
      data={[
        ...EXPIRY_DAYS.map((count) => ({ value: String(count), label: t('settings.days', { count }) })),
        { value: NEVER, label: t('settings.noExpiry') },
      ]}
      allowDeselect={false}
      {...props}
    />
  );
}
