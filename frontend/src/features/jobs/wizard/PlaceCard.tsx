import { Badge, Group, Radio, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PlacementCandidate } from '@/api/contract/jobs';
import type { ChoiceReason, Price } from '@/api/schema';
import { PlaceFacts } from '../places/PlaceFacts';
import { PlaceParts } from '../places/PlaceParts';
import { AUTO, usePlaceWords } from '../places/placeWords';
import { sayReason } from '../places/sayReason';
import classes from './wizard.module.css';

const COLORS: Record<PlacementCandidate['fits'], string> = { now: 'teal', later: 'yellow', never: 'red' };

interface PlaceCardProps {
  place: PlacementCandidate;
  /** All places, and the name of the best one, for the comparison. */
  all: readonly PlacementCandidate[];
  best: string | null;
  /** By kind of GPU; said where the run asks for none. */
  prices: readonly Price[];
  isChosen: boolean;
}

interface AutoCardProps {
  /** The best place now, and why. */
  chosen: string | null;
  why: ChoiceReason | null;
  isChosen: boolean;
}

/** Leaves the choice to Atom, which makes it again until the run starts. */
export function AutoCard({ chosen, why, isChosen }: AutoCardProps) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  return (
    <div className={classes.place} data-place data-checked={isChosen || undefined}>
      <Radio
        value={AUTO}
        classNames={{ label: classes.placeLabel }}
        label={
          <Group gap="xs">
            {t('places.auto')}
            {chosen && <Badge size="sm">{t('places.autoNow', { name: words.name(chosen) })}</Badge>}
          </Group>
        }
        description={t('places.autoHint')}
      />
      {why && (
        <Text size="sm" className={classes.placeFacts}>
          {sayReason(why)}
        </Text>
      )}
    </div>
  );
}

/** A place that can be chosen, by a press anywhere on its card. */
export function PlaceCard({ place, all, best, prices, isChosen }: PlaceCardProps) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  const { name, state, fits, reason, price } = place;
  const room = place.accelerators.map(({ kind, total, free }) =>
    free === null ? `${total} × ${kind}` : t('wizard.freeOf', { kind, total, free }),
  );
  const kinds = price?.per_hour
    ? []
    : prices.map((one) => t('wizard.pricePerHour', { ...one, per_hour: Number(one.per_hour) }));
  const comparison = words.comparison(place, all, best);
  return (
    <div className={classes.place} data-place data-checked={isChosen || undefined}>
      <Radio
        value={name}
        classNames={{ label: classes.placeLabel }}
        label={
          <Group gap="xs">
            {words.name(name)}
            <Badge size="sm" color={COLORS[fits]}>
              {t(`wizard.fits.${state === 'ready' ? fits : 'closed'}`)}
            </Badge>
            <Text span size="xs" c="dimmed">
              {[...room, ...kinds].join(' · ')}
            </Text>
          </Group>
        }
        description={reason ? sayReason(reason) : undefined}
      />
      {place.rank !== null && (
        <div className={classes.placeFacts}>
          <PlaceFacts place={place} />
          {comparison && (
            <Text size="sm" fw={500} mt={6}>
              {comparison}
            </Text>
          )}
          <details className={classes.placeParts}>
            <summary aria-label={t('places.detailsOf', { name: words.name(name) })}>{t('places.details')}</summary>
            <PlaceParts place={place} />
          </details>
        </div>
      )}
    </div>
  );
}
