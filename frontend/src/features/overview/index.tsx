import { Grid, SimpleGrid, Skeleton } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ErrorState } from '@/shared/ErrorState';
import { ButtonLink } from '@/shared/links';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { useCurrentProject, useMay } from '@/shared/project';
import { RecentDatasets, RecentModels } from './assets';
import { Counts } from './Counts';
import { LabelingTasks } from './LabelingTasks';
import { useOverview } from './queries';
import { RecentRuns } from './RecentRuns';

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
          <Counts overview={data} />
          <Grid mt="md" gap="md">
            <Grid.Col span={{ base: 12, lg: 7 }}>
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

function Loading() {
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} aria-busy>
      {['a', 'b', 'c', 'd'].map((key) => (
        <Skeleton key={key} height={96} radius="md" />
      ))}
    </SimpleGrid>
  );
}
