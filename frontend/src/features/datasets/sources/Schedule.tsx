import { NativeSelect, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Source } from '@/api/contract/datasets';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { notifyError } from '@/shared/ui/undo';
import { useSourceActions } from './queries';

const HOUR_S = 3600;
export const SCHEDULES = [
  [0, 'never'],
  [HOUR_S, 'hourly'],
  [24 * HOUR_S, 'daily'],
  [7 * 24 * HOUR_S, 'weekly'],
] as const;

export function useScheduleOptions(present: number | null = null) {
  const { t } = useTranslation();
  const options = SCHEDULES.map(([seconds, word]) => ({ value: String(seconds), label: t(`sources.${word}`) }));
  const isOther = present !== null && !SCHEDULES.some(([seconds]) => seconds === present);
  return isOther ? [...options, { value: String(present), label: t('sources.everyS', { count: present }) }] : options;
}

/** How often the source is scanned, and when the next time is. */
export function Schedule({ source, mayChange }: { source: Source; mayChange: boolean }) {
  const { t } = useTranslation();
  const { schedule } = useSourceActions();
  const options = useScheduleOptions(source.every_s);
  const set = (value: string) => void schedule(source.name, Number(value) || null).catch(notifyError);
  return (
    <>
      <NativeSelect
        size="xs"
        // The address beside it takes all room that it is given.
        miw={130}
        aria-label={t('sources.scheduleOf', { name: source.name })}
        data={options}
        disabled={!mayChange}
        value={String(source.every_s ?? 0)}
        onChange={(event) => set(event.currentTarget.value)}
      />
      {source.next_scan_at && (
        <Text size="xs" c="dimmed" component="div">
          {t('sources.next')} <RelativeTime at={source.next_scan_at} />
        </Text>
      )}
    </>
  );
}
