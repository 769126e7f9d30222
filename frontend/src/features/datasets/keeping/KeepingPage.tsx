import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useArrived } from '@/shared/live/useArrived';
import { FailedPage } from '@/shared/ui/FailedPage';
import { Page } from '@/shared/ui/Page';
import { DatasetHeader } from '../DatasetHeader';
import { useDataset } from '../queries';
import { useSources } from '../sources/queries';
import { SourcesCard } from '../sources/SourcesCard';
import { ToDatasets } from '../ToDatasets';
import { useOpenWriters } from '../writers/queries';
import { WritersPanel } from '../writers/WritersPanel';
import { DeleteCard } from './DeleteCard';
import { DescriptionCard } from './DescriptionCard';
import { Holds } from './Holds';
import { MovingCard } from './MovingCard';
import { useHolds, useRetention } from './queries';
import { RetentionCard } from './RetentionCard';

const route = getRouteApi('/datasets/$name/keeping');

export function KeepingPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const dataset = useDataset(name);
  const retention = useRetention(name);
  const holds = useHolds(name);
  const hasRetention = useArrived(!retention.isPending);
  const sources = useSources();
  const writers = useOpenWriters(name);
  const hasHolds = useArrived(!holds.isPending);
  const hasSources = useArrived(sources.rows !== undefined || sources.error != null);
  const hasWriters = useArrived(writers.rows !== undefined || writers.error != null);
  if (dataset.error && !dataset.data)
    return (
      <FailedPage title={name} above={<ToDatasets />} error={dataset.error} onRetry={() => void dataset.refetch()} />
    );
  return (
    <Page>
      <DatasetHeader name={name} tab="settings" subtitle={t('datasets.keepingSubtitle')} />
      <Stack>
        {dataset.data && (
          <>
            <DescriptionCard dataset={name} description={dataset.data.description} />
            <RetentionCard dataset={name} />
          </>
        )}
        {/* How high a card becomes is not known: those below it come after it, and nothing moves. */}
        {dataset.data && hasRetention && <Holds dataset={name} />}
        {dataset.data && hasRetention && hasHolds && <SourcesCard dataset={name} />}
        {dataset.data && hasRetention && hasHolds && hasSources && <WritersPanel name={name} />}
        {dataset.data && hasRetention && hasHolds && hasSources && hasWriters && (
          <>
            <MovingCard dataset={name} />
            <DeleteCard dataset={name} />
          </>
        )}
      </Stack>
    </Page>
  );
}
