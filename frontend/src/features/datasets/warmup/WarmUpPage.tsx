import { Button, Card, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFlame, IconServerOff } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { WarmChoice } from '@/api/contract/datasets';
import { useMay, useProject } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { useArrived } from '@/shared/live/useArrived';
import { useCommands } from '@/shared/ui/commands';
import { Dialog } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { VersionPicker } from '../browse/VersionPicker';
import { LocalCache } from '../cache/LocalCache';
import { DatasetPartHeader } from '../DatasetPartHeader';
import { useCache, useHeadBranch } from '../queries';
import { ClusterNodes } from './ClusterNodes';
import { canTake } from './newPlan';
import { PlanList } from './PlanList';
import { isRunning, useSchedules, useVersionPlans, useWarmChoices } from './queries';
import { Schedules } from './Schedules';

const StartPlan = lazy(whenReachable(() => import('./StartPlan')));
/** The store may take long to say what a large version has. */
const PATIENCE_MS = 3000;
const route = getRouteApi('/datasets/$name/warm-up');

/** Where the bytes of a version are: on this machine and on nodes of clusters, with the plans that bring them. */
export function WarmUpPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const { ref = 'main', plan } = route.useSearch();
  const navigate = route.useNavigate();
  const address = { project: useProject(), dataset: name, ref };
  const version = `${name}@${ref}`;
  const mayStart = useMay('researcher');
  const [isStarting, starting] = useDisclosure();
  const plans = useVersionPlans(address);
  const choices = useWarmChoices(address, plans.rows?.some(isRunning) ?? false);
  const cache = useCache(name, ref);
  const branch = useHeadBranch(address)?.name ?? 'main';
  const hasArrived = useArrived(
    ![plans, choices, cache, useSchedules()].some(({ isPending }) => isPending),
    PATIENCE_MS,
  );
  const canStart = mayStart && (choices.data?.some(canTake) ?? false);
  const actions = canStart ? [{ id: 'start-plan', label: t('warmup.start'), icon: IconFlame, run: starting.open }] : [];
  useShortcuts(canStart ? [{ keys: 'N', label: t('warmup.start'), run: starting.open }] : []);
  useCommands(actions);
  const openPlan = (id: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, plan: id }), replace: true });
  return (
    <Page>
      <DatasetPartHeader
        name={name}
        tab="files"
        title={t('warmup.title')}
        documentTitle={t('warmup.of', { name: version })}
        subtitle={t('warmup.subtitle')}
        above={
          <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref }} size="sm">
            {name}
          </AnchorLink>
        }
        badges={<VersionPicker name={name} value={ref} onChange={(next) => void navigate({ search: { ref: next } })} />}
      >
        {canStart && (
          <Button leftSection={<IconFlame size={15} />} onClick={starting.open} data-first-action>
            {t('warmup.start')}
          </Button>
        )}
      </DatasetPartHeader>
      {hasArrived ? (
        <Stack>
          <Section title={t('warmup.here')}>
            <LocalCache name={name} address={address} />
          </Section>
          <Section title={t('warmup.clusters')} hint={t('warmup.clustersHint')}>
            <Clusters asked={choices} />
          </Section>
          <Section title={t('warmup.ofVersion')}>
            <Schedules dataset={name} />
            <PlanList
              {...plans}
              open={plan}
              onOpen={openPlan}
              empty={<EmptyState compact icon={IconFlame} title={t('warmup.noneOfVersion')} />}
            />
          </Section>
          <AnchorLink to="/warm-plans" size="sm">
            {t('warmup.plans')}
          </AnchorLink>
        </Stack>
      ) : (
        <Skeleton height={320} aria-busy />
      )}
      <Dialog opened={isStarting} onClose={starting.close} title={t('warmup.startOf', { name: version })}>
        <Suspense fallback={<Skeleton height={320} aria-busy />}>
          <StartPlan
            address={address}
            branch={branch}
            choices={choices.data ?? []}
            onDone={starting.close}
            onStarted={openPlan}
          />
        </Suspense>
      </Dialog>
    </Page>
  );
}

interface ClustersProps {
  asked: { data?: WarmChoice[]; error: unknown; refetch: () => unknown };
}

function Clusters({ asked: { data, error, refetch } }: ClustersProps) {
  const { t } = useTranslation();
  if (error && !data) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height={80} aria-busy />;
  const hint = (
    <Text size="sm" c="dimmed">
      {t('warmup.noClusterHint')}
    </Text>
  );
  if (data.length === 0) return <EmptyState compact icon={IconServerOff} title={t('warmup.noCluster')} action={hint} />;
  return (
    <Stack gap="lg">
      {data.map((choice) => (
        <ClusterNodes key={choice.cluster} choice={choice} />
      ))}
    </Stack>
  );
}

function Section({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <Card component="section" aria-label={title}>
      <Title order={2} fz="md" mb={hint ? 0 : 'xs'}>
        {title}
      </Title>
      {hint && (
        <Text size="sm" c="dimmed" mb="xs">
          {hint}
        </Text>
      )}
      {children}
    </Card>
  );
}
