import { Badge, Group, Radio, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PlacementCandidate } from '@/api/contract/jobs';
import type { Price } from '@/api/schema';
import { PlaceFacts } from '../places/PlaceFacts';
import { PlaceParts } from '../places/PlaceParts';
import { usePlaceWords } from '../places/placeWords';
import { sayReason } from '../places/sayReason';
import classes from './wizard.module.css';

const COLORS: Record<PlacementCandidate['fits'], string> = { now: 'teal', later: 'yellow', never: 'red' };

interface PlaceCardProps {
  place: PlacementCandidate;
  /** All places, for the comparison. */
  all: readonly PlacementCandidate[];
  /** By kind of GPU; said where the run asks for none. */
  prices: readonly Price[];
  isChosen: boolean;
}

/** A place that can be chosen, by a press anywhere on its card. */
export function PlaceCard({ place, all, prices, isChosen }: PlaceCardProps) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  const { name, state, fits, reason, price } = place;
  const room = place.accelerators.map(({ kind, total, free }) =>
    free === null ? `${total} × ${kind}` : t('wizard.freeOf', { kind, total, free }),
  );
  const kinds = price?.per_hour
    ? []
    : prices.map((one) => t('wizard.pricePerHour', { ...one, per_hour: Number(one.per_hour) }));
  const comparison = words.comparison(place, all);
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
