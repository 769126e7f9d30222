import { Badge, Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { KeptDecision, PlacementCandidate } from '@/api/contract/jobs';
import { useFormat } from '@/shared/ui/format';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Assumptions } from '../places/Assumptions';
import { PlaceParts } from '../places/PlaceParts';
import { usePlaceWords } from '../places/placeWords';
import { sayReason } from '../places/sayReason';
import { Section } from '../Section';
import { AssumedAndCame } from './AssumedAndCame';

interface WhyHereProps {
  placement: KeptDecision;
  /** Whether more may come: what is missing is not known yet. */
  isActive: boolean;
}

/** Why a run went where it did: the choice, its estimates beside what came, and the places beside it. */
export function WhyHere({ placement, isActive }: WhyHereProps) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  const { chosen, by, why, decided_at: decidedAt, candidates, assumptions, assumed } = placement;
  return (
    <Section title={t('runpage.whyHere.title')}>
      <Stack gap="sm">
        <div>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {chosen === null
                ? t('runpage.whyHere.nowhere')
                : t(`runpage.whyHere.${by}`, { name: words.name(chosen) })}
            </Text>
            <Text span size="xs" c="dimmed">
              <RelativeTime at={decidedAt} />
            </Text>
          </Group>
          {why && <Text size="sm">{sayReason(why)}</Text>}
        </div>
        {assumed && <AssumedAndCame placement={placement} assumed={assumed} isActive={isActive} />}
        {candidates.length > 0 && <Candidates candidates={candidates} chosen={chosen} />}
        <Assumptions assumptions={assumptions} />
      </Stack>
    </Section>
  );
}

/** The places as they were compared, best first. */
function Candidates({ candidates, chosen }: { candidates: readonly PlacementCandidate[]; chosen: string | null }) {
  const { t } = useTranslation();
  return (
    <Table.ScrollContainer minWidth={560} type="native" tabIndex={0}>
      <Table fz="sm" aria-label={t('runpage.whyHere.places')} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('runpage.whyHere.place')}</Table.Th>
            <Table.Th>{t('places.start')}</Table.Th>
            <Table.Th>{t('runpage.whyHere.dataThere')}</Table.Th>
            <Table.Th>{t('places.price')}</Table.Th>
            <Table.Th>{t('places.parts.total')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {candidates.map((place) => (
            <Candidate key={place.name} place={place} all={candidates} chosen={chosen} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface CandidateProps {
  place: PlacementCandidate;
  all: readonly PlacementCandidate[];
  chosen: string | null;
}

function Candidate({ place, all, chosen }: CandidateProps) {
  const { t } = useTranslation();
  const words = usePlaceWords();
  const format = useFormat();
  const { name, reason, start, coverage, price, cost, data } = place;
  const comparison = words.comparison(place, all, chosen);
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <b>{words.name(name)}</b>
          {name === chosen && <Badge size="sm">{t('runpage.whyHere.chosen')}</Badge>}
        </Group>
        {(reason || comparison) && (
          <Text size="xs" c="dimmed">
            {reason ? sayReason(reason) : comparison}
          </Text>
        )}
        {place.rank !== null && (
          <details>
            <Text
              component="summary"
              size="xs"
              c="dimmed"
              aria-label={t('places.detailsOf', { name: words.name(name) })}
            >
              {t('places.details')}
            </Text>
            <PlaceParts place={place} />
          </details>
        )}
      </Table.Td>
      {place.rank === null ? (
        <Table.Td colSpan={4}>{t('wizard.fits.never')}</Table.Td>
      ) : (
        <>
          <Table.Td>{start ? words.interval(start) : t('places.unknown')}</Table.Td>
          <Table.Td className="tabular">
            {data.length > 0 && coverage !== null ? format.percent(coverage) : '–'}
          </Table.Td>
          <Table.Td className="tabular">{words.money(price?.total ?? null, price?.currency ?? '')}</Table.Td>
          <Table.Td className="tabular">{words.money(cost?.total ?? null, cost?.currency ?? '')}</Table.Td>
        </>
      )}
    </Table.Tr>
  );
}
