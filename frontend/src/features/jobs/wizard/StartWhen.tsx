import { Group, Radio, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { sentenceOf } from '@/api/errors';
import type { StartTime } from '@/api/schema';
import { sayDetail } from '@/i18n';
import { useFormat } from '@/shared/ui/format';
import type { StartChoice } from './draft';
import { NumberField } from './NumberField';

const CHOICES = ['auto', 'data_there', 'share', 'now'] as const;
const DEFAULT_PERCENT = 80;

interface StartWhenProps {
  start: StartChoice;
  /** The three ways of the chosen place, as the preview tells them; none while it is unknown. */
  ways?: StartTime[] | undefined;
  errors: Record<string, string>;
  onChange: (start: StartChoice) => void;
}

/** When the run starts relative to its data, each way with the time until the start. */
export function StartWhen({ start, ways, errors, onChange }: StartWhenProps) {
  const { t } = useTranslation();
  const choose = (when: StartChoice['when']) =>
    onChange(when === 'share' ? { when, percent: start.percent ?? DEFAULT_PERCENT } : { when });
  return (
    <Radio.Group
      label={t('startWhen.title')}
      description={t('startWhen.hint')}
      value={start.when}
      error={errors.start}
      onChange={(when) => choose(when as StartChoice['when'])}
    >
      <Stack gap="xs" mt={6}>
        {CHOICES.map((when) => (
          <Choice key={when} when={when} way={wayOf(ways, when)} />
        ))}
        {start.when === 'share' && (
          <NumberField
            label={t('startWhen.percent')}
            min={1}
            max={99}
            maw={220}
            value={start.percent ?? DEFAULT_PERCENT}
            error={errors['start.percent']}
            onChange={(percent) => onChange({ when: 'share', percent })}
          />
        )}
      </Stack>
    </Radio.Group>
  );
}

/** Atom's own choice has the time of the way that it takes. */
const wayOf = (ways: StartTime[] | undefined, when: StartChoice['when']) =>
  ways?.find((way) => (when === 'auto' ? way.is_default : way.when === when));

function Choice({ when, way }: { when: StartChoice['when']; way: StartTime | undefined }) {
  const { t } = useTranslation();
  const format = useFormat();
  const time = (seconds: number | null) => format.duration(seconds ?? 0);
  const { p50_s: from, p90_s: to, known } = way?.start ?? { p50_s: null, p90_s: null, known: false };
  const starts = !known
    ? t('startWhen.unknown')
    : from === to || to === null
      ? t('startWhen.startsIn', { time: time(from) })
      : t('startWhen.startsBetween', { from: time(from), to: time(to) });
  const { note } = way ?? {};
  return (
    <Radio
      value={when}
      label={
        <Group gap="xs">
          {t(`startWhen.${when}`)}
          {way && (
            <Text span size="xs" c="dimmed">
              {when === 'auto' ? `${t(`startWhen.${way.when}`)} · ${starts}` : starts}
            </Text>
          )}
        </Group>
      }
      description={
        when !== 'auto' && note
          ? sayDetail(note.sentence, sentenceOf({ detail_code: note.code, detail_params: note.params }) ?? undefined)
          : undefined
      }
    />
  );
}
