import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { KeptDecision, PlacementEstimate } from '@/api/contract/jobs';
import { useFormat } from '@/shared/ui/format';
import { usePlaceWords } from '../places/placeWords';
import { sayReason } from '../places/sayReason';

const PARTS = ['queue', 'data', 'image'] as const;

interface AssumedAndCameProps {
  placement: KeptDecision;
  assumed: NonNullable<KeptDecision['assumed']>;
  isActive: boolean;
}

/** The estimates of a run's start, its parts, its length and its cost, each beside what came. */
export function AssumedAndCame({ placement, assumed, isActive }: AssumedAndCameProps) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  const missing = t(isActive ? 'runpage.whyHere.notYet' : 'places.unknown');
  const { came } = placement;
  const took = (seconds: number | null) => (seconds === null ? missing : words.duration(seconds));
  const money = (amount: string | null) => (amount === null ? missing : words.money(amount, assumed.currency));
  const rows: [string, string, string][] = [
    [t('places.parts.start'), words.interval(assumed.start_s), took(came.start_s)],
    ...PARTS.map((part): [string, string, string] => [
      t(`places.parts.${part}`),
      words.duration(assumed[`${part}_s`]),
      took(came[`${part}_s`]),
    ]),
    [t('places.parts.run'), words.interval(assumed.run_s), took(came.run_s)],
    [t('places.price'), words.money(assumed.cost, assumed.currency), money(came.cost)],
  ];
  return (
    <div>
      <Start placement={placement} estimate={assumed.start_s} />
      <Table fz="sm" maw={560} aria-label={t('runpage.whyHere.estimates')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('runpage.whyHere.part')}</Table.Th>
            <Table.Th>{t('runpage.whyHere.assumed')}</Table.Th>
            <Table.Th>{t('runpage.whyHere.came')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([part, before, after]) => (
            <Table.Tr key={part}>
              <Table.Td>{part}</Table.Td>
              <Table.Td className="tabular">{before}</Table.Td>
              <Table.Td className="tabular">{after}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

interface StartProps {
  placement: KeptDecision;
  estimate: PlacementEstimate;
}

/** The start by the clock, as it was assumed and as it came; the basis of the estimate below. */
function Start({ placement: { decided_at: decidedAt, came }, estimate }: StartProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const { known, p50_s: median, basis } = estimate;
  const after = (seconds: number) => format.time(new Date(Date.parse(decidedAt) + seconds * 1000));
  const before = known && median !== null ? after(median) : null;
  const start = came.start_s === null ? null : after(came.start_s);
  return (
    <>
      {before && start && <Text size="sm">{t('runpage.whyHere.startCame', { assumed: before, came: start })}</Text>}
      {before && !start && <Text size="sm">{t('runpage.whyHere.startAssumed', { assumed: before })}</Text>}
      {!before && start && <Text size="sm">{t('runpage.whyHere.startUnknown', { came: start })}</Text>}
      <Text size="xs" c="dimmed" mb={4}>
        {sayReason(basis)}
      </Text>
    </>
  );
}
