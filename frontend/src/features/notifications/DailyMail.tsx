import { Button, Card, Group, type OptionsFilter, Select, Text, Title } from '@mantine/core';
import { useId, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { DailyMailChange, DailyMail as Time } from '@/api/contract/notifications';
import { browserZone, dueText, hours, zoneName, zones } from './zones';

interface DailyMailProps {
  time: Time;
  /** Whether any topic is mailed daily. */
  isUsed: boolean;
  /** Whether mail reaches the reader at all. */
  isSent: boolean;
  onChange: (change: DailyMailChange) => void;
}

/** When the daily mail comes: an hour of the clocks of a time zone. A choice is kept at once. */
export function DailyMail({ time, isUsed, isSent, onChange }: DailyMailProps) {
  const { t, i18n } = useTranslation();
  const title = useId();
  const here = browserZone();
  const known = useMemo(
    () => zones(time.time_zone, here).map((value) => ({ value, label: zoneName(value) })),
    [time.time_zone, here],
  );
  const when = dueText(time.next_at, time.time_zone, i18n.language);
  return (
    <Card component="section" aria-labelledby={title} mb="md">
      <Title order={2} fz={16} id={title}>
        {t('notifications.dailyTitle')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t('notifications.dailyHint')}
      </Text>
      <Group align="flex-end" gap="sm">
        <Select
          label={t('notifications.hour')}
          w={{ base: '100%', xs: 110 }}
          data={HOURS}
          value={String(time.hour)}
          allowDeselect={false}
          onChange={(hour) => onChange({ hour: Number(hour) })}
        />
        <Select
          label={t('notifications.timeZone')}
          w={{ base: '100%', xs: 280 }}
          data={known}
          value={time.time_zone}
          allowDeselect={false}
          searchable
          filter={anyWords}
          nothingFoundMessage={t('notifications.noTimeZone')}
          // Four hundred names are in the page only while one is chosen.
          comboboxProps={{ keepMounted: false }}
          openOnFocus={false}
          data-focus-as="time-zone"
          onChange={(zone) => zone && onChange({ time_zone: zone })}
        />
        {here !== time.time_zone && (
          <Button variant="light" size="sm" data-focus-as="time-zone" onClick={() => onChange({ time_zone: here })}>
            {t('notifications.useTimeZone', { zone: zoneName(here) })}
          </Button>
        )}
      </Group>
      {isSent && (
        <Text size="sm" mt="sm" role="status">
          {isUsed ? t('notifications.dailyNext', { when }) : t('notifications.dailyUnused')}
        </Text>
      )}
    </Card>
  );
}

const HOURS = hours();

/** Finds `new york` and `york america`: people know places by other words than the names' order. */
const anyWords: OptionsFilter = ({ options, search, limit }) => {
  const words = search.toLowerCase().split(/[\s_/]+/);
  const found = options.filter((one) => 'label' in one && words.every((word) => hasWord(one.label, word)));
  return found.slice(0, limit);
};

const hasWord = (label: string, word: string) => label.toLowerCase().includes(word);
