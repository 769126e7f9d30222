import { Progress, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PlaceData } from '@/api/schema';
import { useFormat } from '@/shared/ui/format';
import { usePlaceWords } from './placeWords';

interface DataThereProps {
  data: readonly PlaceData[];
  /** The fee for all that is fetched; null where it is unknown. */
  egress: string | null;
  currency: string;
}

const sumOf = (data: readonly PlaceData[], key: 'bytes_total' | 'bytes_there' | 'bytes_moving' | 'bytes_to_fetch') =>
  data.reduce((sum, part) => sum + part[key], 0);

/** The data that a place has, gets already, and would have to fetch; the text says all that the bar shows. */
export function DataThere({ data, egress, currency }: DataThereProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const words = usePlaceWords();
  if (data.length === 0) return t('places.noData');
  const [total, there, moving, toFetch] = [
    sumOf(data, 'bytes_total'),
    sumOf(data, 'bytes_there'),
    sumOf(data, 'bytes_moving'),
    sumOf(data, 'bytes_to_fetch'),
  ];
  const percent = (part: number) => (total > 0 ? (part / total) * 100 : 100);
  const stores = [...new Set(data.filter((part) => part.bytes_to_fetch > 0).map(({ store }) => store))];
  const facts = [
    t('places.there', { size: format.bytes(there) }),
    ...(moving > 0 ? [t('places.moving', { size: format.bytes(moving) })] : []),
    ...(toFetch > 0 ? [t('places.toFetch', { size: format.bytes(toFetch), store: stores.join(', ') })] : []),
    ...(toFetch > 0 && Number(egress ?? 1) > 0 ? [t('places.egress', { amount: words.money(egress, currency) })] : []),
  ];
  return (
    <>
      <Progress.Root size="md" aria-hidden my={4}>
        <Progress.Section value={percent(total > 0 ? there : 1)} color="teal" withAria={false} />
        <Progress.Section value={percent(moving)} color="yellow" striped withAria={false} />
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {facts.join(' · ')}
      </Text>
    </>
  );
}
