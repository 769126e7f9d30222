import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { PlacementCandidate, PlacementEstimate } from '@/api/contract/jobs';
import { type Format, useFormat } from '@/shared/ui/format';

/** The name of the place that is Atom's own machines. */
export const OWN = 'local';
/** Stands for the place that Atom chooses. */
export const AUTO = 'auto';

type Interval = Pick<PlacementEstimate, 'known' | 'p50_s' | 'p90_s'>;
type Compared = Pick<PlacementCandidate, 'name' | 'rank' | 'cheaper_than_chosen' | 'later_than_chosen_s' | 'cost'>;

const joined = (amount: string, currency: string) => `${amount} ${currency}`.trim();

function createPlaceWords(t: TFunction, format: Format, language: string) {
  const lists = new Intl.ListFormat(language, { style: 'narrow', type: 'conjunction' });
  const name = (place: string) => (place === OWN ? t('wizard.ownMachines') : place);
  const duration = (seconds: number | null) => {
    if (seconds === null) return t('places.unknown');
    return seconds < 1 ? t('places.atOnce') : format.duration(Math.round(seconds));
  };
  const interval = ({ known, p50_s: median, p90_s: late }: Interval) => {
    if (!known || median === null) return t('places.unknown');
    const [low, high] = [duration(median), duration(late ?? median)];
    return low === high ? low : t('places.interval', { low, high });
  };
  const money = (amount: string | null, currency: string) =>
    amount === null ? t('places.unknown') : joined(amount, currency);

  /** How much cheaper and sooner a place is than another one; null where nothing of it is known. */
  const difference = (cheaper: string | null, laterS: number | null, currency: string, other: string) => {
    const [saved, late] = [Number(cheaper ?? 0), laterS ?? 0];
    const cost = joined(Math.abs(saved).toFixed(2), currency);
    const time = duration(Math.abs(late));
    const parts = [
      ...(saved === 0 ? [] : [t(saved > 0 ? 'places.cheaper' : 'places.dearer', { amount: cost })]),
      ...(Math.abs(late) < 1 ? [] : [t(late < 0 ? 'places.sooner' : 'places.later', { time })]),
    ];
    return parts.length > 0 ? t('places.than', { differences: lists.format(parts), name: name(other) }) : null;
  };

  /** A place beside the chosen one; the chosen one beside the best of the others. */
  const comparison = (place: Compared, all: readonly Compared[], chosen: string | null) => {
    if (place.rank === null || chosen === null) return null;
    if (place.name !== chosen)
      return difference(place.cheaper_than_chosen, place.later_than_chosen_s, place.cost?.currency ?? '', chosen);
    const other = all.find(({ name, rank }) => name !== chosen && rank !== null);
    if (!other) return null;
    const { cheaper_than_chosen: cheaper, later_than_chosen_s: laterS, cost } = other;
    const saved = cheaper === null ? null : String(-Number(cheaper));
    return difference(saved, laterS === null ? null : -laterS, cost?.currency ?? '', other.name);
  };

  return { name, duration, interval, money, comparison };
}

export type PlaceWords = ReturnType<typeof createPlaceWords>;

/** Times, amounts and comparisons of places in the reader's language. */
export function usePlaceWords(): PlaceWords {
  const { t, i18n } = useTranslation();
  const format = useFormat();
  return useMemo(() => createPlaceWords(t, format, i18n.language), [t, format, i18n.language]);
}
