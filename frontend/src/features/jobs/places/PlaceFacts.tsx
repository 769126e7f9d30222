import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { PlacementCandidate } from '@/api/contract/jobs';
import { DataThere } from './DataThere';
import { usePlaceWords } from './placeWords';
import { sayReason } from './sayReason';

/** When a run would start in a place, the data there, and its price. */
export function PlaceFacts({ place }: { place: PlacementCandidate }) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  const { start, data, cost, price } = place;
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm" verticalSpacing={6}>
      {start && (
        <Fact label={t('places.start')}>
          {words.interval(start)}
          <Text size="xs" c="dimmed">
            {sayReason(start.basis)}
          </Text>
        </Fact>
      )}
      <Fact label={t('places.data')}>
        <DataThere data={data} egress={cost?.egress ?? null} currency={cost?.currency ?? ''} />
      </Fact>
      {price && (
        <Fact label={t('places.price')}>
          <Price {...price} isGuess={!place.run?.known} />
        </Fact>
      )}
    </SimpleGrid>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" fw={600}>
        {label}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  );
}

type PriceProps = NonNullable<PlacementCandidate['price']> & {
  /** Whether the time of the run is unknown: then an hour is assumed. */
  isGuess: boolean;
};

function Price({ total, per_hour: perHour, currency, isGuess }: PriceProps) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  // A run without accelerators has no price.
  if (perHour === null && total !== null && Number(total) === 0) return t('places.noPrice');
  return (
    <>
      {total === null
        ? t('places.unknown')
        : t(isGuess ? 'places.forHour' : 'places.forRun', { amount: words.money(total, currency) })}
      {perHour !== null && (
        <Text size="xs" c="dimmed">
          {t('places.perHour', { amount: words.money(perHour, currency) })}
        </Text>
      )}
    </>
  );
}
