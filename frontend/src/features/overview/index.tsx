import './words/index';
import { Grid, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Overview } from '@/api/contract/overview';
import { useCurrentProject, useMay } from '@/shared/domain/project';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RecentDatasets, RecentModels } from './assets';
import { Counts } from './Counts';
import { FirstSteps } from './FirstSteps';
import { LabelingTasks } from './LabelingTasks';
import { Needs } from './Needs';
import classes from './overview.module.css';
import { useOverview } from './queries';
import { RecentRuns, RunList } from './RecentRuns';
import { WarmPlans } from './WarmPlans';

export function OverviewPage() {
  const { t } = useTranslation();
  const project = useCurrentProject();
  const mayRun = useMay('researcher');
  const overview = useOverview();
  const { data } = overview;
  return (
    <Page>
      <PageHeader title={t('overview.title')} documentTitle={t('nav.overview')} subtitle={project?.name}>
        {mayRun && (
          <ButtonLink to="/runs/new" leftSection={<IconPlus size={15} />}>
            {t('nav.newRun')}
          </ButtonLink>
        )}
      </PageHeader>
      {overview.error && <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />}
      {overview.isPending && <Loading />}
      {data && (
        <>
          {isNew(data) && mayRun ? <FirstSteps /> : <Calm overview={data} />}
          <Needs needs={data.needs} />
          <Counts overview={data} />
          <Grid mt="md" gap="md">
            <Grid.Col span={{ base: 12, lg: 7 }}>
              {data.runs.mine.length > 0 && (
                <div className={classes.mine}>
                  <RunList title={t('overview.mine')} runs={data.runs.mine} />
                </div>
              )}
              {data.warm_plans.length > 0 && (
                <div className={classes.mine}>
                  <WarmPlans plans={data.warm_plans} />
                </div>
              )}
              <RecentRuns runs={data.runs.recent} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <LabelingTasks tasks={data.labeling.tasks} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <RecentDatasets datasets={data.datasets} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 5 }}>
              <RecentModels models={data.models} />
            </Grid.Col>
          </Grid>
        </>
      )}
    </Page>
  );
}

/** Whether nobody has done anything here yet. */
const isNew = ({ datasets, runs, models, labeling }: Overview) =>
  [datasets, runs.recent, models, labeling.tasks].every(({ length }) => length === 0);

function Calm({ overview }: { overview: Overview }) {
  const { t } = useTranslation();
  if (overview.needs.length > 0) return null;
  return (
    <Text c="dimmed" size="sm" mb="md">
      {t('overview.calm')}
    </Text>
  );
}

function Loading() {
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} aria-busy>
      {['a', 'b', 'c', 'd'].map((key) => (
        <Skeleton key={key} height={96} radius="md" />
      ))}
    </SimpleGrid>
  );
}
