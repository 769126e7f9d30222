import { Radio, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import type { PlacementCandidate, PlacementDecision, Workflow } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import type { AcceleratorChoice, Price } from '@/api/schema';
import { useProject } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { AnchorLink } from '@/shared/ui/links';
import { Assumptions } from '../places/Assumptions';
import { AUTO, OWN } from '../places/placeWords';
import { useClusters } from '../queries';
import { AcceleratorField } from './AcceleratorField';
import type { Draft } from './draft';
import { withPlace } from './draftPlace';
import { inputsOf, requestOf } from './draftRequest';
import { AutoCard, PlaceCard } from './PlaceCard';
import { questionOf } from './question';
import { StartWhen } from './StartWhen';
import { usePlacements } from './usePlacements';
import classes from './wizard.module.css';

interface PlaceFieldProps {
  draft: Draft;
  workflow: Workflow | undefined;
  errors: Record<string, string>;
  onChange: (values: Partial<Draft>) => void;
}

/** Where a run goes: each place with its start, data, price and cost, best first; and its kind of GPUs there. */
export default function PlaceField({ draft, workflow, errors, onChange }: PlaceFieldProps) {
  const { t } = useTranslation();
  const { image, accelerator } = draft;
  const places = usePlacements(questionOf(requestOf(draft), workflow));
  const clusters = useClusters().data?.results;
  const pricesOf = usePrices();
  const candidates = places.data?.candidates ?? [];
  const cluster = withPlace(draft, candidates).cluster || OWN;
  const kindsOf = (name: string) => kindsIn(candidates.filter((place) => name === AUTO || place.name === name));
  const choose = (name: string) => {
    const keepsKind = kindsOf(name).some(({ kind }) => kind === accelerator);
    onChange({
      cluster: name,
      ...(name === OWN && { image: '' }),
      accelerator: keepsKind ? accelerator : '',
    });
  };
  const taken = cluster === AUTO ? places.data?.chosen : cluster;
  return (
    <Stack gap="sm">
      <Radio.Group
        label={t('wizard.cluster')}
        description={candidates.length > 1 ? t('places.order') : undefined}
        value={cluster}
        error={errors.cluster}
        onChange={choose}
      >
        <Stack gap="xs" mt={6} aria-busy={places.isFetching}>
          {places.isPending &&
            (clusters ?? ['']).map((_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: they stand for cards that are not known yet
              <Skeleton key={index} className={classes.placeComing} />
            ))}
          {(cluster === AUTO || candidates.some(({ name, fits }) => name !== OWN && fits !== 'never')) && (
            <AutoCard chosen={places.data?.chosen ?? null} why={places.data?.why ?? null} isChosen={cluster === AUTO} />
          )}
          {candidates.map((place) => (
            <PlaceCard
              key={place.name}
              place={place}
              all={candidates}
              best={places.data?.chosen ?? null}
              prices={pricesOf(place.name)}
              isChosen={place.name === cluster}
            />
          ))}
        </Stack>
      </Radio.Group>
      {places.error && <Unknown error={places.error} onRetry={() => void places.refetch()} />}
      {places.data && <Beside decision={places.data} />}
      {Number(draft.gpus) > 0 && (
        <AcceleratorField
          kinds={kindsOf(cluster)}
          prices={pricesOf(cluster)}
          value={accelerator}
          error={errors.accelerator}
          onChange={(kind) => onChange({ accelerator: kind })}
        />
      )}
      {cluster !== OWN && (
        <TextInput
          label={t('wizard.image')}
          description={t('wizard.imageHint')}
          value={image}
          error={errors.image}
          onChange={(event) => onChange({ image: event.currentTarget.value })}
        />
      )}
      {inputsOf(draft, workflow).length > 0 && (
        <StartWhen
          start={draft.start ?? { when: 'auto' }}
          ways={candidates.find(({ name }) => name === taken)?.ways}
          errors={errors}
          onChange={(start) => onChange({ start })}
        />
      )}
    </Stack>
  );
}

/** The kinds of GPUs of several places, each with the sum of what they have. */
function kindsIn(places: readonly PlacementCandidate[]): AcceleratorChoice[] {
  const kinds = new Map<string, AcceleratorChoice>();
  for (const { accelerators } of places)
    for (const { kind, total, free, reason } of accelerators) {
      const before = kinds.get(kind);
      kinds.set(kind, {
        kind,
        total: total + (before?.total ?? 0),
        free: free === null || before?.free === null ? null : free + (before?.free ?? 0),
        // One place that lends the kind is enough.
        reason: before && before.reason === null ? null : reason,
      });
    }
  return [...kinds.values()];
}

/** The prices of a place by kind of GPU: the comparison has only those of the kind that the run asks for. */
function usePrices(): (place: string) => readonly Price[] {
  const project = useProject();
  const { data } = $api.useQuery(
    'get',
    '/api/v1/projects/{project}/cluster-choices/',
    { params: { path: { project } } },
    { staleTime: 60_000, retry: false },
  );
  return (place) => data?.results.find(({ name }) => name === place)?.prices ?? [];
}

/** Why nothing is compared; mistakes of the form stand at their fields. */
function Unknown({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useTranslation();
  if (asApiError(error).status !== 400) return <ErrorState compact error={error} onRetry={onRetry} />;
  return (
    <Text size="sm" c="dimmed" role="status">
      {t('wizard.noPreview')}
    </Text>
  );
}

/** The assumptions of the comparison; without clusters, the way to the first one. */
function Beside({ decision: { candidates, assumptions } }: { decision: PlacementDecision }) {
  const { t } = useTranslation();
  if (candidates.some(({ name }) => name !== OWN)) return <Assumptions assumptions={assumptions} />;
  return (
    <Text size="xs" c="dimmed">
      {t('places.onlyOwn')} {t('places.register')}{' '}
      <AnchorLink to="/settings/clusters" fz="inherit" underline="always">
        {t('places.clusters')}
      </AnchorLink>
    </Text>
  );
}
