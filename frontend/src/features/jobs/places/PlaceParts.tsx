import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PlacementCandidate, PlacementEstimate } from '@/api/contract/jobs';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { DataThere } from './DataThere';
import { Preemption } from './Preemption';
import { usePlaceWords } from './placeWords';
import { sayReason } from './sayReason';

const COSTS = ['compute', 'egress', 'time', 'eviction', 'failure', 'total'] as const;

/** The time and the cost of a run in one place, part by part. */
export function PlaceParts({ place }: { place: PlacementCandidate }) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  const { parts, start, run, cost, data } = place;
  return (
    <Stack gap="sm" mt="xs">
      <KeyValueList
        items={[
          [t('places.parts.queue'), parts && <Based key="q" estimate={parts.queue} />],
          [t('places.parts.data'), parts && words.duration(parts.data_s)],
          [t('places.parts.image'), parts && words.duration(parts.image_s)],
          [t('places.parts.start'), start && words.interval(start)],
          [t('places.parts.run'), run && <Based key="r" estimate={run} />],
        ]}
      />
      {cost && (
        <KeyValueList
          items={COSTS.map((part) => [t(`places.parts.${part}`), words.money(cost[part], cost.currency)])}
        />
      )}
      <KeyValueList
        items={[
          ...(data.length > 1
            ? data.map((input): [string, React.ReactNode] => [
                `${input.alias} (${input.dataset}@${input.ref})`,
                <DataThere key={input.alias} data={[input]} egress={input.egress_cost} currency={input.currency} />,
              ])
            : []),
          [t('places.parts.preemption'), <Preemption key="p" classes={place.preempted_by} />],
        ]}
      />
    </Stack>
  );
}

/** A time with what it rests on. */
function Based({ estimate }: { estimate: PlacementEstimate }) {
  const words = usePlaceWords();
  return (
    <>
      {estimate.known && words.interval(estimate)}
      <Text span={!estimate.known} size="xs" c="dimmed">
        {sayReason(estimate.basis)}
      </Text>
    </>
  );
}
